import { createHash } from 'node:crypto';
import { isControlTool } from '@jetloop/contracts';
import { canonicalJson } from './canonical-json.js';
import { TOOL_NAME } from './tool-name.js';
import type { Tool } from './tool.js';

export interface ToolListing {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  readonly: boolean;
  idempotent: boolean;
  /** SHA-256 (hex) of the canonical JSON of `inputSchema`. */
  schemaHash: string;
}

/** The tools a runner offers, by name. Two tools of one name are an error of configuration, never a silent replacement. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();

  constructor(tools: Iterable<Tool> = []) {
    for (const tool of tools) this.add(tool);
  }

  add(tool: Tool): void {
    if (!TOOL_NAME.test(tool.name))
      throw new TypeError(`a tool's name must match ${TOOL_NAME.source}, got "${tool.name}"`);
    if (isControlTool(tool.name))
      throw new Error(`"${tool.name}" is a tool of the loop itself; rename or leave out yours`);
    if (this.#tools.has(tool.name))
      throw new Error(`two tools are named "${tool.name}"; rename or leave out one of them`);
    this.#tools.set(tool.name, tool);
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  tools(): Tool[] {
    return [...this.#tools.values()];
  }

  /** Sorted by name, so that the same tools always make the same prompt. */
  list(): ToolListing[] {
    return this.tools()
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(listingOf);
  }
}

/** A tool as it is listed. */
export function listingOf({ name, description, inputSchema, readonly, idempotent }: Tool): ToolListing {
  const schemaHash = createHash('sha256').update(canonicalJson(inputSchema)).digest('hex');
  return { name, description, inputSchema, readonly, idempotent, schemaHash };
}

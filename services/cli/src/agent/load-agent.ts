import { agentSpecSchema, type AgentSpec } from '@jetloop/contracts';
import { readText } from '../input/read-text.js';
import { parseYaml } from '../input/parse-yaml.js';
import { UsageError } from '../usage-error.js';
import { describeIssue } from './describe-issue.js';

/**
 * Reads an agent spec from a YAML (or JSON) file and applies all defaults.
 * @throws UsageError that names file, path and expectation of each thing that is wrong
 */
export async function loadAgent(file: string): Promise<AgentSpec> {
  return parseAgent(await readText(file, 'agent file'), file);
}

/** The same for text. @param file named in errors only */
export function parseAgent(text: string, file: string): AgentSpec {
  const value = parseYaml(text, file);
  const parsed = agentSpecSchema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.flatMap((issue) => describeIssue(issue, value, file)).join('\n'));
}

import type { Json } from '@jetloop/contracts';
import { writableWithEssence } from '../translation/essence.js';
import { isObject, writable, type JsonObject, type Received } from '../translation/frame.js';
import { rpcError } from '../translation/stop.js';
import { harness, HarnessFailure, protocol } from './harness-failure.js';
import type { PromptCapabilities } from './prompt-content.js';

const VERSION = 1;
const INITIALIZE = {
  protocolVersion: VERSION,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
};

export interface HandshakeOptions {
  readonly cwd: string;
  readonly mcpServers: readonly Json[];
  /** The agent's session to go on with. */
  readonly agentSession: string | undefined;
  readonly continuity: 'required' | 'fresh';
  /** Writes a request and resolves with its answer. */
  readonly ask: (method: string, params: JsonObject) => Promise<Received>;
  /** Keeps an answer for the log. */
  readonly keep: (source: string, value: Json) => void;
}

export interface Handshake {
  readonly agentSession: string;
  readonly capabilities: PromptCapabilities;
}

/**
 * `initialize`, then `session/load` for a session that the agent knows, or `session/new` (spec 6.1). Both answers are kept.
 * @throws HarnessFailure
 */
export async function shakeHands(options: HandshakeOptions): Promise<Handshake> {
  const agent = await initialize(options);
  const { cwd, mcpServers, agentSession, continuity } = options;
  const place = { cwd, mcpServers: [...mcpServers] };
  const capabilities = promptCapabilities(agent);
  if (agentSession !== undefined) {
    const problem = await load(options, agent, { sessionId: agentSession, ...place });
    if (!problem) return { agentSession, capabilities };
    if (continuity === 'required') throw problem;
  }
  const answer = await options.ask('session/new', place);
  options.keep('session/new', writableWithEssence('session/new', answer.message, answer));
  const result = resultOf('session/new', answer.message);
  if (typeof result['sessionId'] !== 'string') throw undecodable('session/new', 'a sessionId');
  return { agentSession: result['sessionId'], capabilities };
}

async function initialize({ ask, keep }: HandshakeOptions): Promise<JsonObject> {
  const answer = await ask('initialize', INITIALIZE);
  keep('initialize', writable(answer.message, answer));
  const result = resultOf('initialize', answer.message);
  const version = result['protocolVersion'];
  if (version === VERSION) return isObject(result['agentCapabilities']) ? result['agentCapabilities'] : {};
  if (typeof version !== 'number') throw undecodable('initialize', 'a protocolVersion');
  throw protocol('version', `The agent speaks protocol version ${version}, expected version ${VERSION}.`);
}

/** Undefined: the agent has the session again. Otherwise why not. */
async function load(
  { ask, keep }: HandshakeOptions,
  agent: JsonObject,
  params: JsonObject,
): Promise<HarnessFailure | undefined> {
  if (agent['loadSession'] !== true)
    return harness('cannot_load', 'The agent cannot load its session again (it does not advertise loadSession).');
  const answer = await ask('session/load', params);
  keep('session/load', writable(answer.message, answer));
  if (!('error' in answer.message)) return undefined;
  const { message } = rpcError('session/load', answer.message['error'] ?? null);
  return harness('cannot_load', message);
}

function promptCapabilities(agent: JsonObject): PromptCapabilities {
  const prompt = agent['promptCapabilities'];
  const has = (name: string) => isObject(prompt) && prompt[name] === true;
  return { image: has('image'), embeddedContext: has('embeddedContext') };
}

/** @throws HarnessFailure when the answer is an error, or no result */
function resultOf(method: string, message: JsonObject): JsonObject {
  if ('error' in message) throw new HarnessFailure(rpcError(method, message['error'] ?? null));
  const { result } = message;
  if (!isObject(result)) throw undecodable(method, 'an object');
  return result;
}

function undecodable(method: string, expected: string): HarnessFailure {
  return protocol('undecodable_answer', `The answer to ${method} cannot be used: expected ${expected}.`);
}

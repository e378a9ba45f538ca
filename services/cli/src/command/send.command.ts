import type { AcceptedMessage, JetloopClient, OutputOptions } from '@jetloop/client';
import { defaultAgent } from '../agent/default-agent.js';
import { namedAgent } from '../agent/named-agent.js';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { loadSchema } from '../input/load-schema.js';
import { readPrompt } from '../input/read-prompt.js';
import { styleOf } from '../render/style.js';
import { UsageError } from '../usage-error.js';
import { sameSession, withClient, type RemoteOptions } from './with-client.js';

export interface SendOptions extends RemoteOptions {
  readonly whenBusy?: 'queue' | 'reject' | 'interrupt' | undefined;
  readonly steer?: boolean | undefined;
  readonly inject?: boolean | undefined;
  readonly messageId?: string | undefined;
  /** Begin the session if there is none. */
  readonly create?: boolean | undefined;
  readonly agent?: string | undefined;
  readonly workspace?: string | undefined;
  /** File of a JSON Schema. */
  readonly output?: string | undefined;
}

interface Prompt {
  readonly text: string;
  readonly output: OutputOptions | undefined;
}

/** `jetloop send`: hands a prompt, steering or context to a session, and returns once it is durably accepted. */
export async function sendCommand(
  session: string,
  prompt: string,
  options: SendOptions,
  io: CommandIo,
): Promise<ExitCode> {
  checkToken('session', session);
  check(options);
  const agent = await namedAgent(options.agent);
  const output = await loadSchema(options.output);
  const text = await readPrompt(prompt, io.input);
  const accepted = await withClient(io, options, async (client) => {
    const begins = options.create === true && !(await client.exists(session));
    if (begins) return begin(client, session, { text, output }, agent, options.workspace);
    if (agent)
      throw new UsageError(`The session ${session} exists and keeps its agent: leave --agent and --create out.`);
    return say(client, session, { text, output }, options);
  });
  const { messageId, sequence } = accepted;
  if (options.json) writeJson(io, { session, tenant: options.tenant, messageId, sequence });
  else {
    io.out.write(`accepted: message ${messageId} is event ${sequence} of session ${session}\n`);
    const follow = `jetloop tail ${session} --from ${sequence}${sameSession(options)}`;
    io.out.write(`${styleOf(io.out).dim(`  follow it: ${follow}`)}\n`);
  }
  return EXIT.completed;
}

function check(options: SendOptions): void {
  const { steer, inject, whenBusy, create, agent, workspace, messageId, output } = options;
  if (steer && inject) throw new UsageError('--steer and --inject exclude each other: a message is one of them.');
  if ((steer || inject) && whenBusy !== undefined)
    throw new UsageError('--when-busy is for prompts: steering and context join the open turn.');
  if ((steer || inject) && output !== undefined)
    throw new UsageError('--output is for prompts: steering and context have no answer of their own.');
  if ((steer || inject) && create) throw new UsageError('--create is for prompts: a new session begins with one.');
  if (!create && (agent !== undefined || workspace !== undefined))
    throw new UsageError('--agent and --workspace are for a new session: give --create too.');
  if (create && messageId !== undefined)
    throw new UsageError('--message-id is for a session that exists: leave --create out.');
  if (messageId !== undefined) checkToken('--message-id', messageId);
}

function begin(
  client: JetloopClient,
  session: string,
  { text, output }: Prompt,
  agent: Awaited<ReturnType<typeof namedAgent>>,
  workspace: string | undefined,
): Promise<AcceptedMessage> {
  const where = workspace === undefined ? {} : { workspace };
  return client.create({
    session,
    agent: agent ?? { spec: defaultAgent },
    ...where,
    prompt: text,
    ...(output ? { output } : {}),
  });
}

function say(
  client: JetloopClient,
  session: string,
  { text, output }: Prompt,
  { steer, inject, whenBusy, messageId }: SendOptions,
): Promise<AcceptedMessage> {
  const id = messageId === undefined ? {} : { messageId };
  if (steer) return client.steer(session, text, id);
  if (inject) return client.inject(session, text, id);
  const busy = whenBusy === undefined ? {} : { whenBusy };
  return client.prompt(session, text, { ...id, ...busy, ...(output ? { output } : {}) });
}

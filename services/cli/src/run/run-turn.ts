import { JetloopClient, type SessionEntry, type TurnOutcome } from '@jetloop/client';
import type { LiveDelta, LiveTool } from '@jetloop/contracts';
import { actorOf } from '../actor.js';
import { defaultAgent } from '../agent/default-agent.js';
import type { CommandIo } from '../command-io.js';
import { UsageError } from '../usage-error.js';
import { cancelFirst } from './cancel-first.js';
import type { RunPlan } from './run-plan.js';
import { newSessionId } from './session-id.js';

/** Gets what happens in a turn. */
export interface TurnListener {
  begin(session: string): void;
  event(entry: SessionEntry): void;
  delta?: (delta: LiveDelta) => void;
  output?: (output: LiveTool) => void;
}

export interface RanTurn {
  readonly session: string;
  readonly outcome: TurnOutcome;
}

/**
 * Sends the prompt, to a new session or to one that exists, and follows its turn to the end. ^C cancels the turn; a second one
 * stops waiting.
 */
export async function runTurn(io: CommandIo, plan: RunPlan, natsUrl: string, listener: TurnListener): Promise<RanTurn> {
  const client = await JetloopClient.connect({ natsUrl, tenant: plan.tenant, actor: actorOf(io.env) });
  const session = plan.session ?? newSessionId();
  const gaveUp = new AbortController();
  const giveUp = (why: unknown) => {
    gaveUp.abort(why);
  };
  const stops: (() => void)[] = [];
  try {
    const isKnown = plan.session !== undefined && (await client.exists(session));
    if (isKnown && plan.agent)
      throw new UsageError(
        `The session ${session} exists and keeps its agent: leave --agent out, or choose another --session.`,
      );
    const { delta, output } = listener;
    // Pieces may come before the answer to the command; a refused one begins nothing.
    let hasBegun = false;
    const begin = () => {
      if (!hasBegun) listener.begin(session);
      hasBegun = true;
    };
    const afterBegin =
      <T>(show: (value: T) => void) =>
      (value: T) => {
        begin();
        show(value);
      };
    if (delta) stops.push(client.live(session, afterBegin(delta), 'delta'));
    if (output) stops.push(client.live(session, afterBegin(output), 'tool'));
    const { messageId, sequence } = isKnown
      ? await client.prompt(session, plan.prompt, plan.output ? { output: plan.output } : {})
      : await create(client, session, plan);
    begin();
    stops.push(io.onInterrupt(cancelFirst(client, session, giveUp)));
    const outcome = await client.turnOf(session, messageId, {
      from: sequence,
      signal: gaveUp.signal,
      onEvent: (entry) => {
        listener.event(entry);
      },
    });
    return { session, outcome };
  } finally {
    for (const stop of stops) stop();
    await client.close();
  }
}

function create(client: JetloopClient, session: string, { agent, where, prompt, output }: RunPlan) {
  return client.create({
    session,
    agent: agent ?? { spec: defaultAgent },
    ...(where.workspace === undefined ? {} : { workspace: where.workspace }),
    prompt,
    ...(output ? { output } : {}),
  });
}

import { startReplayServer, wireAnswer, wireOf, type PlannedResponse, type ReplayServer } from '@jetloop/testing';
import { z } from 'zod';

const body = z.looseObject({ stream: z.boolean().default(false), tools: z.array(z.unknown()).default([]) });
const USAGE = { input: 10, output: 5 };

/** What agents ask of their model is answered here, in the dialect in which they ask; a prompt with WAIT never to its end. */
export class PeerModel {
  private constructor(private readonly server: ReplayServer) {}

  static async start(): Promise<PeerModel> {
    return new PeerModel(await startReplayServer({ folder: '', answer: ({ path, body: sent }) => answer(path, sent) }));
  }

  get url(): string {
    return this.server.url;
  }

  /** How many requests held a text. */
  asked(text: string): number {
    return this.server.requests.filter((request) => JSON.stringify(request.body).includes(text)).length;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

function answer(path: string, sent: unknown): PlannedResponse {
  const { stream, tools } = body.parse(sent);
  const dialect = /\/messages(\?|$)/.test(path) ? 'anthropic' : 'chat';
  // Without tools it is asked for a title, or the like, beside the turn.
  if (tools.length > 0 && JSON.stringify(sent).includes('WAIT')) {
    const wire = wireOf(dialect);
    return { chunks: [wire.begin(USAGE), wire.text('One moment'), 'hang'] };
  }
  return wireAnswer(dialect, { text: 'Hello from the model.', finish: 'stop', usage: USAGE }, stream);
}

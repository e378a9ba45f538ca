import { randomUUID } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type NewSessionRequest,
  type NewSessionResponse,
  type LoadSessionResponse,
} from '@agentclientprotocol/sdk';
import { CommandRefusedError, type JetloopClient } from '@jetloop/client';
import { TOKEN_PATTERN, type AgentSpec } from '@jetloop/contracts';
import { editorOf, type Editor } from './editor.js';
import type { FrameOutput } from './frames/frame-output.js';
import { listedSession, PAGE_SIZE, pageStart, pageToken } from './list-page.js';
import { withMcpServers } from './mcp-servers.js';
import { requestErrorOf, invalidParams, invalidRequest } from './request-error.js';
import { AttachedSession } from './session/attached-session.js';
import { UnsupportedContentError } from './translate/content.js';

export interface AcpAgentOptions {
  readonly client: JetloopClient;
  /** What new sessions are created with: a name in AGENTS, or a spec where the services take one. */
  readonly agent: { readonly name: string } | { readonly spec: AgentSpec };
  readonly output: FrameOutput;
  readonly version: string;
  /** Says on standard error what cannot be said elsewhere. */
  readonly complain: (line: string) => void;
}

/** Serves sessions to one editor (spec 6.7): which session a request is about, and what is answered. */
export class AcpAgent {
  private readonly sessions = new Map<string, AttachedSession>();
  private editor: Editor | undefined;
  private answering = 0;
  private whenSettled: (() => void)[] = [];

  constructor(private readonly options: AcpAgentOptions) {}

  /** The SDK's app: it parses, dispatches and answers. */
  app(): AgentApp {
    return agent({ name: 'jetloop' })
      .onConnect(({ client, signal }) => {
        this.editor = editorOf(client, signal);
      })
      .onRequest(methods.agent.initialize, () => this.initialized())
      .onRequest(methods.agent.session.new, ({ params }) => this.answer('', () => this.create(params)))
      .onRequest(methods.agent.session.load, ({ params }) =>
        this.answer(params.sessionId, () => this.attach(params, true)),
      )
      .onRequest(methods.agent.session.resume, ({ params }) =>
        this.answer(params.sessionId, () => this.attach(params, false)),
      )
      .onRequest(methods.agent.session.list, ({ params }) => this.answer('', () => this.list(params)))
      .onRequest(methods.agent.session.close, ({ params: { sessionId } }) =>
        this.answer(sessionId, async () => {
          await this.attached(sessionId).close();
          this.sessions.delete(sessionId);
          return {};
        }),
      )
      .onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) =>
        this.answer(sessionId, async () => {
          await this.attached(sessionId).setMode(modeId);
          return {};
        }),
      )
      .onRequest(methods.agent.session.prompt, ({ params: { sessionId, prompt }, signal }) =>
        this.answer(sessionId, (done) => this.attached(sessionId).prompt(prompt, signal, done)),
      )
      .onNotification(methods.agent.session.cancel, async ({ params }) => {
        await this.sessions.get(params.sessionId)?.cancel();
      });
  }

  /** Resolves once every request was answered; a prompt counts until its session has it. */
  settled(): Promise<void> {
    if (this.answering === 0) return Promise.resolve();
    return new Promise((done) => {
      this.whenSettled.push(done);
    });
  }

  /** Forgets all sessions, which go on. */
  stop(): void {
    for (const session of this.sessions.values()) session.detach();
    this.sessions.clear();
  }

  /** Whatever a client offers, this is version 1. */
  private initialized(): InitializeResponse {
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      agentInfo: { name: 'jetloop', title: 'Jetloop', version: this.options.version },
      authMethods: [],
    };
  }

  private async create({
    cwd,
    mcpServers,
    additionalDirectories = [],
  }: NewSessionRequest): Promise<NewSessionResponse> {
    const { client } = this.options;
    const workspace = folderOf(cwd, additionalDirectories);
    const session = randomUUID();
    const spec = await withMcpServers(this.options.agent, mcpServers, client);
    await client.create({ session, agent: spec, workspace }).catch((error: unknown) => {
      // What is not found is the agent: no editor can mend that.
      if (error instanceof CommandRefusedError && error.code === 'not_found')
        throw new RequestError(-32603, error.message, { name: error.name, code: error.code });
      throw error;
    });
    const attached = await this.open(session, workspace, true);
    return { sessionId: session, ...modesOf(attached) };
  }

  private async attach(
    params: { readonly sessionId: string; readonly cwd: string; readonly additionalDirectories?: readonly string[] },
    replays: boolean,
  ): Promise<LoadSessionResponse> {
    const { sessionId, cwd, additionalDirectories = [] } = params;
    const workspace = folderOf(cwd, additionalDirectories);
    if (!TOKEN_PATTERN.test(sessionId)) throw RequestError.sessionNotFound(sessionId);
    const known = this.sessions.get(sessionId);
    if (known?.isPrompting)
      throw invalidRequest('A prompt of this session is open: cancel it before you load it again.');
    known?.detach();
    return modesOf(await this.open(sessionId, workspace, replays));
  }

  private async open(session: string, cwd: string, replays: boolean): Promise<AttachedSession> {
    const { client, output, complain } = this.options;
    if (!this.editor) throw new Error('a request came before its connection');
    const attached = new AttachedSession({ client, editor: this.editor, output, session, cwd, replays, complain });
    this.sessions.set(session, attached);
    try {
      await attached.attach();
      return attached;
    } catch (error) {
      attached.detach();
      if (this.sessions.get(session) === attached) this.sessions.delete(session);
      throw error;
    }
  }

  private async list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const folder = cwd == null ? {} : { workspace: folderOf(cwd, []) };
    const start = cursor == null ? {} : { before: pageStart(cursor) };
    const { sessions, next } = await this.options.client.sessionPage({ ...folder, ...start, limit: PAGE_SIZE });
    return { sessions: sessions.map(listedSession), ...(next === undefined ? {} : { nextCursor: pageToken(next) }) };
  }

  private attached(sessionId: string): AttachedSession {
    const attached = this.sessions.get(sessionId);
    if (!attached) throw RequestError.sessionNotFound(sessionId);
    return attached;
  }

  /** @param work is given what it may call when the request need not be waited for any more */
  private async answer<T>(session: string, work: (done: () => void) => Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      if (isDone) return;
      isDone = true;
      this.answering--;
      if (this.answering === 0) for (const settle of this.whenSettled.splice(0)) settle();
    };
    this.answering++;
    try {
      return await work(done);
    } catch (error) {
      if (error instanceof UnsupportedContentError) throw invalidParams(error.message);
      throw requestErrorOf(error, session);
    } finally {
      done();
    }
  }
}

function modesOf({ modes }: AttachedSession): { modes?: NonNullable<AttachedSession['modes']> } {
  return modes === undefined ? {} : { modes };
}

/** @throws RequestError -32602 */
function folderOf(cwd: string, additional: readonly string[]): string {
  if (!isAbsolute(cwd)) throw invalidParams(`cwd: expected an absolute path, got ${JSON.stringify(cwd)}`);
  if (additional.length > 0) throw invalidParams('additionalDirectories: a session works in one folder, its cwd');
  return resolve(cwd);
}

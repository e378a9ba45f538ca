/** A call of a tool: arguments as a value, or as the raw text that the model wrote. */
export interface ScriptedCall {
  readonly name: string;
  /** Default `{}`. */
  readonly arguments?: unknown;
  /** Default `call_<request>_<position>`. */
  readonly id?: string;
}

/** What a model answers to one request. */
export interface ScriptedAnswer {
  /** Waited for before the answer begins. */
  readonly after?: Promise<unknown>;
  /** Milliseconds before the answer begins. */
  readonly delayMs?: number;
  /** The text, or its pieces as they are streamed; a promise between two pieces is waited for. */
  readonly text?: string | readonly (string | Promise<unknown>)[];
  readonly calls?: readonly ScriptedCall[];
  /** In the words of the chat dialect. Default `tool_calls` with calls, else `stop`. */
  readonly finish?: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  /** Tokens. Default 10 and 5. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** Answers with this HTTP status instead. */
  readonly error?: { readonly status: number; readonly message?: string; readonly code?: string };
}

/** Answers in the order of the requests, or an answer for each request; `n` counts from 1. */
export type ModelScript = readonly ScriptedAnswer[] | ((request: SeenRequest, n: number) => ScriptedAnswer);

/** A message of a request, as the chat dialect has it. */
export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?:
    | readonly {
        readonly id: string;
        readonly function: { readonly name: string; readonly arguments: string };
      }[]
    | undefined;
  readonly tool_call_id?: string | undefined;
}

/** A request as it was sent. */
export interface SeenRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  /** Names of the tools that it tells of. */
  readonly tools: readonly string[];
  /** Why it was answered with 400; undefined: a real provider would have taken it. */
  readonly problem: string | undefined;
  /** Resolves when the client broke the connection before the end of the answer. */
  readonly aborted: Promise<void>;
}

/** What a model says, whatever the form; the request decides whether it streams. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments?: string; readonly id?: string }[];
  /** Default: `tool_calls` with calls, else `stop`. */
  readonly finish?: string;
  /** Prompt and completion tokens; default 10 and 5. */
  readonly usage?: readonly [number, number];
}

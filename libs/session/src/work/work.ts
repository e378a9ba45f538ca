import type {
  AcpCommand,
  CallerCommandInput,
  ChildReply,
  HookCommand,
  LlmCommand,
  ToolCommand,
} from '@jetloop/contracts';

/** Commands to workers. */
export type AwaitedWork =
  | { readonly kind: 'llm'; readonly command: LlmCommand }
  | { readonly kind: 'tool'; readonly command: ToolCommand }
  | { readonly kind: 'hook'; readonly command: HookCommand }
  | { readonly kind: 'acp'; readonly command: AcpCommand };

/** A command of the loop itself to a session: to a child from its parent. */
export type ChildCommand = Extract<CallerCommandInput, { kind: 'create' | 'cancel' }>;

/** What must have been sent for the session to go on. */
export type Work =
  | AwaitedWork
  | { readonly kind: 'timer'; readonly name: string; readonly dueAt: string }
  | { readonly kind: 'abort'; readonly turn: number }
  /** To a child session. */
  | { readonly kind: 'child'; readonly session: string; readonly command: ChildCommand }
  /** The end of a child session, to its parent. */
  | { readonly kind: 'report'; readonly session: string; readonly reply: ChildReply };

/** A name that tells one piece of work from every other: the work id, or what a timer or an abort is for. */
export function workKey(work: Work): string {
  switch (work.kind) {
    case 'timer':
      return `timer:${work.name}`;
    case 'abort':
      return `abort:${work.turn}`;
    case 'child':
      return `child:${work.command.commandId}`;
    case 'report':
      return `report:${work.reply.commandId}`;
    case 'llm':
    case 'tool':
    case 'hook':
    case 'acp':
      return work.command.commandId;
  }
}

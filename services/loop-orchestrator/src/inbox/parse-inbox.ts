import {
  callerCommandSchema,
  parseSessionSubject,
  replySchemas,
  type CallerCommand,
  type Reply,
  type Timer,
} from '@jetloop/contracts';
import { parseJson, TerminalError, type InboxMessage } from '@jetloop/messaging';
import { z } from 'zod';

interface InboxAddress {
  readonly tenant: string;
  readonly session: string;
  /** Length of the body as it came: no content in it is longer. */
  readonly bytes: number;
}

/** A message of the session inbox, read. */
export type ParsedInbox = InboxAddress &
  (
    | { readonly from: 'caller'; readonly command: CallerCommand }
    | { readonly from: 'caller-invalid'; readonly commandId: string; readonly problem: string }
    | { readonly from: 'worker'; readonly reply: Reply }
    | { readonly from: 'timer'; readonly timer: Timer }
  );

/**
 * Reads an inbox message. A kind on a subject that is not its own is refused: a tool cannot speak for the model.
 * @throws TerminalError when there is nobody to answer
 */
export function parseInbox({ subject, body, redeliveredOf }: InboxMessage): ParsedInbox {
  const where = parseSessionSubject(subject);
  if (!where) throw new TerminalError('invalid', `${subject} is no inbox of a session`);
  const { kind } = where;
  const address = { tenant: where.tenant, session: where.session, bytes: body.length };
  const value = parseJson(body);
  if (kind === undefined) return { ...address, ...asOfDelivery(parseCaller(value), redeliveredOf) };
  const parsed = replySchemas[kind].safeParse(value);
  if (!parsed.success) throw new TerminalError('invalid', `no ${kind} reply: ${z.prettifyError(parsed.error)}`);
  if (parsed.data.kind === 'timer') return { ...address, from: 'timer', timer: parsed.data };
  return { ...address, from: 'worker', reply: parsed.data };
}

type ParsedCaller =
  | { readonly from: 'caller'; readonly command: CallerCommand }
  | { readonly from: 'caller-invalid'; readonly commandId: string; readonly problem: string };

/** A cancel that is delivered again affects only what there was when it was sent. */
function asOfDelivery(parsed: ParsedCaller, redeliveredOf: string | undefined): ParsedCaller {
  if (parsed.from !== 'caller' || parsed.command.kind !== 'cancel' || redeliveredOf === undefined) return parsed;
  return { ...parsed, command: { ...parsed.command, asOf: parsed.command.asOf ?? redeliveredOf } };
}

/** A bad command that still tells its id is answered, not only given up. */
function parseCaller(value: unknown): ParsedCaller {
  const parsed = callerCommandSchema.safeParse(value);
  if (parsed.success) return { from: 'caller', command: parsed.data };
  const problem = z.prettifyError(parsed.error);
  const named = callerCommandSchema.options[0].shape.commandId.safeParse(
    (value as { commandId?: unknown } | null)?.commandId,
  );
  if (!named.success) throw new TerminalError('invalid', `no command: ${problem}`);
  return { from: 'caller-invalid', commandId: named.data, problem };
}

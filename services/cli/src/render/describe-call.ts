import type { EventData } from '@jetloop/contracts';
import { oneLine } from './format.js';

/** Arguments that say best what a call is about, in this order. */
const TELLING = ['command', 'path', 'from', 'pattern', 'query', 'url', 'name'];

/** The essentials of a call's arguments on one line. */
export function describeArguments(
  call: Pick<EventData<'tool.call'>, 'effective' | 'arguments'>,
  width: number,
): string {
  if (call.effective === null) return oneLine(call.arguments, width);
  const effective = call.effective;
  const telling = TELLING.flatMap((key) => {
    const value = effective[key];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
  if (telling.length > 0) return oneLine(telling.join(' '), width);
  return Object.keys(effective).length === 0 ? '' : oneLine(JSON.stringify(effective), width);
}

/** A `bigint` or `numeric` as a number. @throws RangeError for an integer that a number cannot hold exactly */
export function parseNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`${text} is outside of what a number holds exactly (2^53 - 1)`);
  }
  return value;
}

/** A `bigint` or `numeric` as a number if no digit is lost, else as the text that it was. */
export function parseNumberOrText(text: string): number | string {
  const value = Number(text);
  const shortest = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return String(value) === shortest ? value : text;
}

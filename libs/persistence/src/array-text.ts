/** Nothing that an array's text gives a meaning to. `null` without quotes would be one. */
const PLAIN = /^(?!null$)[A-Za-z0-9_.:+-]+$/i;

/**
 * Values of one column as the text of a PostgreSQL array. null and undefined become NULL; values of a `json` or `jsonb`
 * column become JSON.
 */
export function arrayText(values: readonly unknown[], type: string): string {
  const isJson = type === 'jsonb' || type === 'json';
  return `{${values.map((value) => element(value, isJson)).join(',')}}`;
}

function element(value: unknown, isJson: boolean): string {
  if (value === null || value === undefined) return 'NULL';
  const text = typeof value === 'string' && !isJson ? value : JSON.stringify(value);
  return PLAIN.test(text) ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

import pg from 'pg';
import { parseNumberOrText } from '../parse-number.js';

const { builtins } = pg.types;

/** Times as RFC 3339 in UTC with all their digits: a `Date` would lose the microseconds. `infinity` stays as it is. */
const timeText = (text: string): string => text.replace(' ', 'T').replace(/\+00$/, 'Z');

const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, parseNumberOrText],
  [builtins.NUMERIC, parseNumberOrText],
  [builtins.TIMESTAMPTZ, timeText],
  [builtins.TIMESTAMP, timeText],
  [builtins.DATE, (text) => text],
  [builtins.INTERVAL, (text) => text],
  [builtins.BYTEA, (text) => text],
]);

/** Reads cells for people and programs that print JSON: nothing is lost, nothing depends on the local time zone. */
export const auditTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    parsers.get(oid) ?? (pg.types.getTypeParser(oid, format) as (value: string | Buffer) => unknown),
};

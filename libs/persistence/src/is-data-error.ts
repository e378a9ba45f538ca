import pg from 'pg';

/** Classes of SQLSTATE: data exception, integrity constraint violation, program limit exceeded. */
const DATA_CLASSES = new Set(['22', '23', '54']);

/** Whether PostgreSQL refused these very rows, so that trying them again is of no use. */
export function isDataError(error: unknown): error is Error {
  return error instanceof pg.DatabaseError && DATA_CLASSES.has(error.code?.slice(0, 2) ?? '');
}

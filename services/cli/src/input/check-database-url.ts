import { UsageError } from '../usage-error.js';

/** Checks the form of the database's address. @throws UsageError */
export function checkDatabaseUrl(url: string | undefined): string {
  if (url === undefined || url === '')
    throw new UsageError('DATABASE_URL is not set: expected postgres://user:password@host:port/database');
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' };
  if (protocol !== 'postgres:' && protocol !== 'postgresql:')
    throw new UsageError('DATABASE_URL is no address: expected postgres://user:password@host:port/database');
  return url;
}

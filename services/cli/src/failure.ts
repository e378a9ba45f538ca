import { CommandRefusedError, SessionNotFoundError } from '@jetloop/client';
import { InvalidTokenError } from '@jetloop/contracts';
import { ApiError, RetryableError, ServerUnreachableError, UnsupportedServerError } from '@jetloop/messaging';
import { AuditQueryError, MigrationError } from '@jetloop/persistence';
import { InfraError } from '@jetloop/testing';
import { EXIT, type ExitCode } from './exit-code.js';
import { InterruptedError } from './run/interrupted-error.js';
import { ServicesNotRunningError } from './services-not-running-error.js';
import { UsageError } from './usage-error.js';

/** Why a command did not do what it was asked for. */
export interface Failure {
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly message: string;
}

/** SQLSTATE classes that speak of the server and not of the query: connection, resources, operator, system. */
const SERVER_CLASSES = ['08', '53', '57', '58'];

/** Says what went wrong, and which exit code that is. */
export function failureOf(error: unknown): Failure {
  if (error instanceof UsageError || error instanceof InvalidTokenError)
    return { exitCode: EXIT.usage, code: 'invalid', message: error.message };
  if (error instanceof SessionNotFoundError)
    return { exitCode: EXIT.usage, code: error.code, message: notFound(error.session, error.tenant) };
  if (error instanceof CommandRefusedError) return refused(error);
  if (error instanceof AuditQueryError) return ofQuery(error);
  if (error instanceof ServerUnreachableError)
    return {
      exitCode: EXIT.infrastructure,
      code: 'unavailable',
      message: `${error.message}\nStart it, correct the address, or leave --nats and NATS_URL out to run on embedded servers. \`jetloop doctor\` says what is reachable.`,
    };
  if (error instanceof ApiError || error instanceof RetryableError)
    return {
      exitCode: EXIT.infrastructure,
      code: 'unavailable',
      message: `${error.message}\nDoes this NATS server carry Jetloop, and do its services run? They create the streams when they start.`,
    };
  if (error instanceof InterruptedError)
    return { exitCode: EXIT.otherEnd, code: 'interrupted', message: error.message };
  if (isServerProblem(error)) return { exitCode: EXIT.infrastructure, code: 'unavailable', message: error.message };
  return {
    exitCode: EXIT.infrastructure,
    code: 'internal',
    message: `unexpected: ${error instanceof Error ? error.message : String(error)}`,
  };
}

function isServerProblem(error: unknown): error is Error {
  return [UnsupportedServerError, InfraError, MigrationError, ServicesNotRunningError].some(
    (kind) => error instanceof kind,
  );
}

function refused({ code, message }: CommandRefusedError): Failure {
  const exitCode = code === 'full' || code === 'unavailable' ? EXIT.infrastructure : EXIT.usage;
  return { exitCode, code, message };
}

function ofQuery({ code, message }: AuditQueryError): Failure {
  const isQuery = code !== undefined && !SERVER_CLASSES.includes(code.slice(0, 2));
  if (!isQuery)
    return { exitCode: EXIT.infrastructure, code: 'unavailable', message: `The query did not run: ${message}` };
  return { exitCode: EXIT.usage, code: 'invalid', message: `PostgreSQL refused the query: ${message}` };
}

function notFound(session: string, tenant: string): string {
  return [
    `There is no session ${session} in tenant ${tenant}.`,
    "List what there is: jetloop sessions, or jetloop sql 'select tenant, session_id, status, created_at from sessions order by created_at'.",
    'Sessions of embedded runs belong to the folder they were started in; --tenant and --nats choose others.',
  ].join('\n');
}

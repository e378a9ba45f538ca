import { applyDecorators, Catch, UseFilters, type RpcExceptionFilter } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';

/** Nest would turn an ordinary exception into "Internal server error" before the transport sees it. */
@Catch()
class RethrowFilter implements RpcExceptionFilter<Error> {
  catch(error: Error): Observable<never> {
    return throwError(() => error);
  }
}

/**
 * Marks the method of a controller that handles a service's commands: `llm`, `tool`, `hook` and `acp` take a parsed command and
 * return its reply (undefined: acknowledged without one); `session` takes the inbox (see `InboxMessage`).
 */
export function WorkHandler(kind: 'llm' | 'tool' | 'hook' | 'acp' | 'session'): MethodDecorator {
  return applyDecorators(MessagePattern(kind), UseFilters(new RethrowFilter()));
}

/**
 * Marks the method that is asked, before a command is given up for its many deliveries, whether it only waited: true, and it
 * is handled once more. It is given what the `WorkHandler` of its kind is given.
 */
export function WaitCheck(kind: 'llm' | 'tool' | 'hook' | 'session'): MethodDecorator {
  return applyDecorators(MessagePattern(waitPattern(kind)), UseFilters(new RethrowFilter()));
}

/** The pattern of a {@link WaitCheck}. */
export function waitPattern(kind: string): string {
  return `${kind}.waits`;
}

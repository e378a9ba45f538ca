import {
  methods,
  type AgentContext,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';

/** The client at the other end of the pipe, as a session uses it. */
export interface Editor {
  /** Aborts when the connection is closed. */
  readonly closed: AbortSignal;
  /** In the order of the calls. What cannot be written is nobody's any more: the connection is closed. */
  update(session: string, update: SessionUpdate): void;
  /** Asks a person. When the signal aborts the question is taken back (`$/cancel_request`), and this rejects. */
  ask(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
}

export function editorOf(context: AgentContext, closed: AbortSignal): Editor {
  return {
    closed,
    update: (sessionId, update) => {
      const sent = context.notify(methods.client.session.update, { sessionId, update });
      sent.catch(() => undefined); // only a closed connection refuses a write, and its end is handled where it is waited for
    },
    ask: (request, cancellationSignal) =>
      context.request(methods.client.session.requestPermission, request, {
        cancellationSignal,
        stopWaitingOnCancel: true,
      }),
  };
}

import type { EventData, Json } from '@jetloop/contracts';
import { harnessApprovalId, PERMISSION_ASK } from '@jetloop/session';
import { writableWithEssence } from '../translation/essence.js';
import { writable, type Frame } from '../translation/frame.js';
import { chooseOption, readAsk, type Ask, type Verdict } from '../translation/permission.js';
import { response } from './rpc.js';

type PermissionRequest = Extract<Frame, { kind: 'request' }>;
type Policy = 'deny' | 'allow_once' | 'ask';

export interface PermissionsOptions {
  readonly policy: Policy;
  readonly where: { readonly turn: number; readonly step: number; readonly attempt: number };
  /** Records a frame for the log, at once, and returns its worker sequence. */
  readonly record: (source: string, value: Json, request?: PermissionRequest) => number;
  /** Resolves once all that was recorded is in the log. */
  readonly inLog: () => Promise<void>;
  readonly write: (line: string) => void;
}

const verdicts = { deny: 'reject', allow_once: 'allow' } as const;

/** Answers what an agent asks permission for: never before ask and decision are in the log (spec 6.3). */
export class Permissions {
  private readonly open = new Map<string, { readonly request: PermissionRequest; readonly ask: Ask }>();
  private cancelled = false;

  constructor(private readonly options: PermissionsOptions) {}

  /** False: it is no permission request of the protocol. */
  take(request: PermissionRequest): boolean {
    const ask = readAsk(request.message['params']);
    if (!ask) return false;
    const { policy, where, record } = this.options;
    const value = writableWithEssence(PERMISSION_ASK, request.message['params'] ?? null, request);
    const sequence = record(PERMISSION_ASK, value, request);
    if (this.cancelled) this.decide(request, ask, 'cancelled');
    else if (policy !== 'ask') this.decide(request, ask, verdicts[policy]);
    else this.open.set(harnessApprovalId(where.turn, where.step, where.attempt, sequence), { request, ask });
    return true;
  }

  /** A person, or the time, decided an approval. */
  decided({ approvalId, outcome }: EventData<'approval.decided'>): void {
    const waiting = this.open.get(approvalId);
    if (!waiting) return;
    this.open.delete(approvalId);
    const verdict = outcome === 'approved' ? 'allow' : outcome === 'cancelled' ? 'cancelled' : 'reject';
    this.decide(waiting.request, waiting.ask, verdict);
  }

  /** The turn is cancelled: what is open, and what still comes, is answered so. */
  cancel(): void {
    this.cancelled = true;
    for (const { request, ask } of this.open.values()) this.decide(request, ask, 'cancelled');
    this.open.clear();
  }

  private decide(request: PermissionRequest, ask: Ask, verdict: Verdict): void {
    const { policy, record, inLog, write } = this.options;
    const outcome = chooseOption(verdict, ask.offered);
    record(`${PERMISSION_ASK}/decision`, {
      policy,
      toolCallId: ask.toolCallId,
      offered: writable([...ask.offered], request),
      outcome: { ...outcome },
    });
    inLog().then(
      () => {
        write(response(request.idText, { outcome: { ...outcome } }));
      },
      () => undefined, // The attempt fails of that: nobody is left to answer.
    );
  }
}

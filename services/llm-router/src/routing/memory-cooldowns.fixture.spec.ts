import type { LlmError } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';
import type { Admission, Cooldowns, Rest } from './cooldowns.js';
import { restAfter } from './rest-after.js';

/** Cooldowns of one process alone: what one router does to another is tested on the real bucket. */
export class MemoryCooldowns implements Cooldowns {
  readonly rests = new Map<string, Rest>();
  readonly probes: string[] = [];
  private readonly listeners = new Set<() => void>();

  restOf(target: string, now: number): Rest | undefined {
    const rest = this.rests.get(target);
    return rest && rest.until > now ? rest : undefined;
  }

  admit(target: string, now: number): Promise<Admission | undefined> {
    const rest = this.rests.get(target);
    if (!rest) return Promise.resolve({ answered: () => undefined });
    if (rest.until > now) return Promise.resolve(undefined);
    this.probes.push(target);
    const probe = { until: now + 10_000, code: rest.code, isProbed: true };
    this.set(target, probe);
    return Promise.resolve({
      answered: () => {
        if (this.rests.get(target) === probe) this.set(target, undefined);
      },
    });
  }

  failed(target: Target, error: LlmError, now: number): Promise<void> {
    const milliseconds = restAfter(error, target) ?? 0;
    if (milliseconds > 0) this.set(target.name, { until: now + milliseconds, code: error.code, isProbed: false });
    return Promise.resolve();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(target: string, rest: Rest | undefined): void {
    if (rest) this.rests.set(target, rest);
    else this.rests.delete(target);
    for (const listener of this.listeners) listener();
  }
}

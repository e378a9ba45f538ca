import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { LlmError } from '@jetloop/contracts';
import { CooldownStore } from '@jetloop/messaging';
import type { Target } from '../catalogue/catalogue.js';
import type { Admission, Cooldowns, Rest } from './cooldowns.js';
import { restAfter } from './rest-after.js';

/** Milliseconds after which a probe that nobody ended is given up. */
const PROBE_MS = 10_000;
const FREE: Admission = { answered: () => undefined };

/** Cooldowns in the bucket COOLDOWNS. Where it cannot be written, routing goes on with what is known. */
@Injectable()
export class SharedCooldowns implements Cooldowns {
  private readonly logger = new Logger(SharedCooldowns.name);
  private readonly by = randomUUID();

  constructor(@Inject(CooldownStore) private readonly store: CooldownStore) {}

  restOf(target: string, now: number): Rest | undefined {
    const entry = this.store.find(target);
    return entry && entry.until > now ? entry : undefined;
  }

  async admit(target: string, now: number): Promise<Admission | undefined> {
    const entry = this.store.find(target);
    if (!entry) return FREE;
    if (entry.until > now) return undefined;
    const revision = await this.store.probe(target, entry, this.by, now + PROBE_MS).catch((error: unknown) => {
      this.warn(target, error);
      return 'unknown' as const;
    });
    if (revision === undefined) return this.admit(target, now);
    if (revision === 'unknown') return FREE;
    return {
      answered: () => {
        this.store.end(target, revision).catch((error: unknown) => {
          this.warn(target, error);
        });
      },
    };
  }

  async failed(target: Target, error: LlmError, now: number): Promise<void> {
    const milliseconds = restAfter(error, target);
    if (milliseconds === undefined || milliseconds <= 0) return;
    if (error.code === 'auth') {
      this.logger.warn(
        `target ${target.name}: the provider refused the key (${error.status ?? ''}), it rests a minute`,
      );
    }
    await this.store.rest(target.name, now + milliseconds, error.code).catch((problem: unknown) => {
      this.warn(target.name, problem);
    });
  }

  onChange(listener: () => void): () => void {
    return this.store.onChange(listener);
  }

  private warn(target: string, error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.logger.warn(`target ${target}: its rest could not be shared (${text})`);
  }
}

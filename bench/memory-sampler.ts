import { familyMemory } from './process-usage.ts';

/** Rarely: a look walks the page tables of all its processes, and all processes share the cores that are measured. */
const SAMPLE_MS = 2_500;

/** Postgres is many processes, so that its peak has to be looked for. */
export class MemorySampler {
  private peak = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(pid: number) {
    const look = async () => {
      this.peak = Math.max(this.peak, await familyMemory(pid));
    };
    this.timer = setInterval(() => void look(), SAMPLE_MS);
  }

  stop(): number {
    clearInterval(this.timer);
    return this.peak;
  }
}

/** Counts what runs at once under each name, in this process. */
export class CountedSlots {
  private readonly running = new Map<string, number>();

  /** Takes a slot and returns how to give it back; undefined: as many run under this name as may. */
  enter(name: string, limit: number | undefined): (() => void) | undefined {
    const before = this.running.get(name) ?? 0;
    if (limit !== undefined && before >= limit) return undefined;
    this.running.set(name, before + 1);
    return () => {
      const left = (this.running.get(name) ?? 1) - 1;
      if (left > 0) this.running.set(name, left);
      else this.running.delete(name);
    };
  }
}

/** What arrives while its reader is busy. One reader. */
export class Queue<T> {
  private items: T[] = [];
  private waiting: (() => void) | undefined;

  push(item: T): void {
    this.items.push(item);
    this.waiting?.();
  }

  /** Lets a waiting reader go on without an item. */
  wake(): void {
    this.waiting?.();
  }

  /** All that has arrived; waits for the first at most so many milliseconds, then gives none. */
  async take(milliseconds: number): Promise<T[]> {
    if (this.items.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.waiting = undefined;
    }
    const taken = this.items;
    this.items = [];
    return taken;
  }
}

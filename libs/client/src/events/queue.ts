/** What arrives while its reader is busy, up to a number: over it nothing is kept, and the reader looks elsewhere. One reader. */
export class Queue<T> {
  private items: T[] = [];
  private isOver = false;
  private waiting: (() => void) | undefined;

  constructor(private readonly capacity: number) {}

  push(item: T): void {
    this.isOver ||= this.items.length >= this.capacity;
    if (this.isOver) this.items = [];
    else this.items.push(item);
    this.waiting?.();
  }

  /** Lets a waiting reader go on without an item. */
  wake(): void {
    this.waiting?.();
  }

  /** All that has arrived; none where it was too much. Waits for the first at most so many milliseconds, then gives none. */
  async take(milliseconds: number): Promise<T[]> {
    if (this.items.length === 0 && !this.isOver) {
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
    this.isOver = false;
    return taken;
  }
}

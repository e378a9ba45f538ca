import type { Json } from '@jetloop/contracts';
import type { Frame, Received } from '../translation/frame.js';
import { request } from './rpc.js';

/** Our requests that wait for their answers. */
export class Requests {
  private readonly waiting = new Map<number, (frame: Received) => void>();
  private nextId = 1;

  constructor(private readonly write: (line: string) => void) {}

  /** @param onAnswer takes the answer when it is read: before any frame that comes behind it */
  ask<T>(method: string, params: Json, onAnswer: (frame: Received) => T): Promise<T> {
    const id = this.nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.waiting.set(id, (frame) => {
      try {
        resolve(onAnswer(frame));
      } catch (error) {
        reject(error);
      }
    });
    this.write(request(id, method, params));
    return promise;
  }

  /** False: the frame answers none of them. */
  take(frame: Frame): boolean {
    if (frame.kind !== 'response' || typeof frame.id !== 'number') return false;
    const answer = this.waiting.get(frame.id);
    this.waiting.delete(frame.id);
    answer?.(frame);
    return answer !== undefined;
  }
}

import { Events, type NatsConnection } from 'nats';
import { connectToNats, type ConnectOptions } from './connect.js';
import { Publisher } from './publisher.js';

/** An error that the JetStream API answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly api: string,
    readonly code: number,
    description: string,
  ) {
    super(`${api}: ${description} (${code})`);
  }
}

const API_TIMEOUT_MS = 5_000;

/** One connection with what everything here is made of: core NATS, acknowledged publishes, and the JetStream API. */
export class Bus {
  readonly publisher: Publisher;

  private up = true;

  private constructor(readonly nats: NatsConnection) {
    this.publisher = new Publisher(nats);
    void this.followStatus();
  }

  static async connect(options: ConnectOptions): Promise<Bus> {
    return new Bus(await connectToNats(options));
  }

  /** Largest message (bytes, headers included) that the server takes. */
  get maxPayload(): number {
    return this.nats.info?.max_payload ?? 1_048_576;
  }

  /** Whether the connection is up at this moment; it reconnects for ever. */
  get isConnected(): boolean {
    return this.up;
  }

  get serverVersion(): string {
    return this.nats.info?.version ?? 'unknown';
  }

  /**
   * Calls `$JS.API.<api>`.
   * @throws ApiError with the server's `err_code`
   */
  async api<T>(api: string, request: unknown = {}): Promise<T> {
    const message = await this.nats.request(`$JS.API.${api}`, JSON.stringify(request), { timeout: API_TIMEOUT_MS });
    const answer = message.json<T & { error?: { err_code?: number; code?: number; description?: string } }>();
    if (answer.error)
      throw new ApiError(api, answer.error.err_code ?? answer.error.code ?? 0, answer.error.description ?? '');
    return answer;
  }

  /** Sends what is buffered, then closes. */
  async close(): Promise<void> {
    this.publisher.close();
    if (!this.nats.isClosed()) await this.nats.drain();
  }

  private async followStatus(): Promise<void> {
    for await (const { type } of this.nats.status()) {
      if (type === Events.Disconnect) this.up = false;
      if (type === Events.Reconnect) this.up = true;
    }
    this.up = false;
  }
}

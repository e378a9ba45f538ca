import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A wire between a NATS client and its server that loses live messages, as a busy server loses those of a slow consumer.
 * All else passes byte for byte.
 */
export class LiveFilter {
  lost = 0;
  /** Decides by the number of the live message, from 0. */
  loses: (n: number) => boolean = () => false;

  private seen = 0;

  private constructor(
    readonly url: string,
    private readonly server: Server,
    private readonly sockets: Set<Socket>,
  ) {}

  static async start(natsUrl: string): Promise<LiveFilter> {
    const target = new URL(natsUrl);
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
      client.pipe(upstream);
      const splitter = new MessageSplitter((subject) => {
        const isLost = subject.startsWith('live.') && filter.loses(filter.seen++);
        if (isLost) filter.lost++;
        return isLost;
      });
      upstream.on('data', (chunk) => client.write(splitter.push(chunk)));
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const through = new URL(natsUrl);
    through.hostname = '127.0.0.1';
    through.port = String((server.address() as AddressInfo).port);
    const filter = new LiveFilter(through.href.replace(/\/$/, ''), server, sockets);
    return filter;
  }

  /** Counts from 0 again. */
  lose(loses: (n: number) => boolean): void {
    this.loses = loses;
    this.seen = 0;
    this.lost = 0;
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

/** Reads the server's protocol as far as needed: lines, and messages with a body. */
class MessageSplitter {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly isLost: (subject: string) => boolean) {}

  /** What of the bytes so far may pass. */
  push(chunk: Buffer): Buffer {
    this.rest = Buffer.concat([this.rest, chunk]);
    const passed: Buffer[] = [];
    for (;;) {
      const end = this.rest.indexOf('\r\n');
      if (end < 0) break;
      const [verb = '', subject = '', ...more] = this.rest.subarray(0, end).toString().split(' ');
      const size = /^H?MSG$/.test(verb) ? Number(more.at(-1)) + 2 : 0;
      const whole = end + 2 + size;
      if (this.rest.length < whole) break;
      if (size === 0 || !this.isLost(subject)) passed.push(this.rest.subarray(0, whole));
      this.rest = this.rest.subarray(whole);
    }
    return Buffer.concat(passed);
  }
}

// An external agent that does what a script says: any bytes, at any time. Run as `node agent-program.mjs <script> <wire>`:
// the script's default export is a function of the agent below; every line that comes in is appended to the file <wire>.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , script = '', wire = ''] = process.argv;
const { code, args } = JSON.parse(readFileSync(script, 'utf8'));
const incoming = [];
const waiting = [];
let closed = false;

createInterface({ input: process.stdin })
  .on('line', (line) => {
    appendFileSync(wire, `${line}\n`);
    incoming.push(JSON.parse(line));
    for (const wake of waiting.splice(0)) wake();
  })
  .on('close', () => {
    closed = true;
    for (const wake of waiting.splice(0)) wake();
  });

const agent = {
  args,
  session: 'agent-1',
  env: process.env,
  cwd: process.cwd(),
  sleep,
  raw: (bytes) =>
    new Promise((resolve) => {
      process.stdout.write(bytes, resolve);
    }),
  send: (message) => agent.raw(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
  update: (sessionUpdate, fields = {}, sessionId = agent.session) =>
    agent.send({ method: 'session/update', params: { sessionId, update: { sessionUpdate, ...fields } } }),
  say: (text, more = {}) => agent.update('agent_message_chunk', { content: { type: 'text', text }, ...more }),
  answer: (request, result) => agent.send({ id: request.id, result }),
  fail: (request, error) => agent.send({ id: request.id, error }),
  /** The next message that fits, which may have come already. Never resolves when none comes. */
  async next(fits) {
    const isIt = typeof fits === 'string' ? (message) => message.method === fits : fits;
    for (;;) {
      const index = incoming.findIndex(isIt);
      if (index >= 0) return incoming.splice(index, 1)[0];
      if (closed) await sleep(1_000_000);
      await new Promise((resolve) => waiting.push(resolve));
    }
  },
  async request(id, method, params) {
    await agent.send({ id, method, params });
    return agent.next((message) => message.id === id && message.method === undefined);
  },
  ask: (id, options, more = {}) =>
    agent.request(id, 'session/request_permission', {
      sessionId: agent.session,
      toolCall: { toolCallId: 'c1', title: 'Write a file', ...more },
      options,
    }),
  async initialize(agentCapabilities = {}) {
    agent.answer(await agent.next('initialize'), { protocolVersion: 1, agentCapabilities });
  },
  async handshake(agentCapabilities = {}) {
    await agent.initialize(agentCapabilities);
    agent.answer(await agent.next('session/new'), { sessionId: agent.session });
  },
  async prompted(agentCapabilities) {
    await agent.handshake(agentCapabilities);
    return agent.next('session/prompt');
  },
  stop: (request, stopReason = 'end_turn') => agent.answer(request, { stopReason }),
  /** Until the other side closes our input. */
  async untilClosed() {
    while (!closed) await new Promise((resolve) => waiting.push(resolve));
  },
};

const play = await import(`data:text/javascript,${encodeURIComponent(`export default ${code}`)}`);
await play.default(agent);
await agent.untilClosed();

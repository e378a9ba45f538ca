// A worker thread: it loads the modules, and runs one call of their tools at a time.
import { parentPort, workerData } from 'node:worker_threads';
import { loadToolModules } from '../tool/load-tool-modules.js';
import type { FromWorker, ToWorker, WorkerTask } from './protocol.js';
import { WorkerCall } from './worker-call.js';

if (!parentPort) throw new Error('expected to run as a worker thread');
const port = parentPort;
const { modules, folder } = workerData as WorkerTask;
const tools = new Map((await loadToolModules(modules, folder)).map((tool) => [tool.name, tool]));
const send = (message: FromWorker) => {
  port.postMessage(message);
};

let current: WorkerCall | undefined;
port.on('message', (message: ToWorker) => {
  if (message.type === 'run') {
    current = new WorkerCall(message, send);
    void current.carryOut(tools.get(message.tool));
  } else if (current?.number === message.call) current.abort(message.reason);
});
send({ type: 'ready' });

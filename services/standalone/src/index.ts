export { startStandalone } from './start-standalone.js';
export type { Standalone, StandaloneOptions } from './start-standalone.js';
export { startProcesses } from './start-processes.js';
export type { Processes, ProcessesOptions } from './start-processes.js';

export { processIo, type CommandIo } from './command-io.js';
export { EXIT, type ExitCode } from './exit-code.js';
export { runProgram } from './program.js';
export type { Terminal } from './render/terminal.js';

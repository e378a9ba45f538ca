import { writeJson, type CommandIo } from '../command-io.js';
import { inspectMachine } from '../doctor/inspect-machine.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { styleOf } from '../render/style.js';

export interface DoctorOptions {
  readonly json?: boolean | undefined;
}

/** `jetloop doctor`: what is there, and how to get what is not. */
export async function doctorCommand({ json }: DoctorOptions, io: CommandIo): Promise<ExitCode> {
  const findings = await inspectMachine(io.env, io.folder);
  const works = findings.every(({ state }) => state !== 'missing');
  if (json) writeJson(io, { works, findings });
  else {
    const { done, failed, refused, name, dim, symbols } = styleOf(io.out);
    const marks = { ok: done(symbols.done), optional: refused(symbols.waiting), missing: failed(symbols.failed) };
    const width = Math.max(...findings.map((finding) => finding.name.length));
    for (const finding of findings) {
      io.out.write(`${marks[finding.state]} ${name(finding.name.padEnd(width))}  ${finding.detail}\n`);
      if (finding.remedy !== undefined) io.out.write(`  ${' '.repeat(width)}  ${dim(finding.remedy)}\n`);
    }
    const verdict = works ? done('A run works on this machine.') : failed('A run would not work: see what is missing.');
    io.out.write(`\n${verdict}\n`);
  }
  return works ? EXIT.completed : EXIT.infrastructure;
}

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const CODE = `/** Cents of all lines of a cart, before any discount. */
export function subtotal(lines) {
  return lines.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
}

/** Cents off: ten percent from ten pieces on. */
export function discount(lines) {
  const pieces = lines.reduce((sum, { quantity }) => sum + quantity, 0);
  return pieces > 10 ? Math.round(subtotal(lines) * 0.1) : 0;
}

/** Cents to pay. */
export function total(lines) {
  return subtotal(lines) - discount(lines);
}
`;

const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { total } from '../src/cart.js';

test('nine pieces cost what they cost', () => {
  assert.equal(total([{ price: 200, quantity: 9 }]), 1800);
});

test('ten pieces are ten percent off', () => {
  assert.equal(total([{ price: 200, quantity: 10 }]), 1800);
});
`;

const FILES = {
  'package.json': '{ "name": "cart", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/cart.js': CODE,
  'test/cart.test.js': TEST,
};

/** Milliseconds that the tests may take. */
const TEST_LIMIT_MS = 20_000;

/** A small project on disk whose test fails: a discount begins one piece too late. */
export class BrokenProject {
  private constructor(readonly folder: string) {}

  static async create(): Promise<BrokenProject> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-demo-')));
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return new BrokenProject(folder);
  }

  /** Whether its tests pass now, and are the ones it came with: looked at from outside, whatever the agent says. */
  async isMended(): Promise<boolean> {
    const test = await readFile(join(this.folder, 'test/cart.test.js'), 'utf8').catch(() => undefined);
    return test === TEST && (await this.testsPass());
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  private testsPass(): Promise<boolean> {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return new Promise((resolve) => {
      const child = spawn(process.execPath, ['--test'], {
        cwd: this.folder,
        env,
        stdio: 'ignore',
        timeout: TEST_LIMIT_MS,
      });
      child.once('error', () => {
        resolve(false);
      });
      child.once('exit', (code) => {
        resolve(code === 0);
      });
    });
  }
}

import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const profileSchema = z.object({
  startTime: z.number(),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
  nodes: z.array(
    z.object({
      id: z.number(),
      children: z.array(z.number()).default([]),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
    }),
  ),
});
type RawNode = z.infer<typeof profileSchema>['nodes'][number];

/** A function, or a package, and its part of the time in which the process was not idle. */
export interface Share {
  readonly name: string;
  readonly part: number;
}

export interface Profile {
  /** Part of the window in which the process was not idle. */
  readonly busy: number;
  /** Functions by the time spent in themselves. */
  readonly self: readonly Share[];
  /** Functions of this project by the time spent in them and in what they call. */
  readonly total: readonly Share[];
  /** Packages by the time spent in their functions. */
  readonly packages: readonly Share[];
}

const TOP = 25;

/** Reads a `.cpuprofile`, as far as it lies in a window (microseconds of the monotonic clock). */
export async function readProfile(file: string, window: { start: number; end: number }): Promise<Profile> {
  const raw = profileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const nodes = new Map(raw.nodes.map((node) => [node.id, node]));
  const time = new Map<number, number>();
  let at = raw.startTime;
  raw.samples.forEach((id, index) => {
    const delta = raw.timeDeltas[index] ?? 0;
    at += delta;
    if (at >= window.start && at <= window.end) time.set(id, (time.get(id) ?? 0) + delta);
  });
  const isIdle = (id: number) => nodes.get(id)?.callFrame.functionName === '(idle)';
  const all = [...time].reduce((sum, [, delta]) => sum + delta, 0);
  const busyTime = [...time].reduce((sum, [id, delta]) => sum + (isIdle(id) ? 0 : delta), 0);
  const parents = new Map(raw.nodes.flatMap(({ id, children }) => children.map((child) => [child, id] as const)));
  const self = new Map<string, number>();
  const total = new Map<string, number>();
  const packages = new Map<string, number>();
  for (const [id, delta] of time) {
    const node = nodes.get(id);
    if (!node || isIdle(id)) continue;
    add(self, nameOf(node), delta);
    add(packages, packageOf(node.callFrame.url), delta);
    // A function that calls itself counts once.
    const names = new Set(lineage(id, nodes, parents).filter(isOurs).map(nameOf));
    for (const name of names) add(total, name, delta);
  }
  const top = (shares: Map<string, number>) =>
    [...shares]
      .sort(([, a], [, b]) => b - a)
      .slice(0, TOP)
      .map(([name, delta]) => ({ name, part: delta / busyTime }));
  return { busy: busyTime / all, self: top(self), total: top(total), packages: top(packages) };
}

function lineage(id: number, nodes: ReadonlyMap<number, RawNode>, parents: ReadonlyMap<number, number>): RawNode[] {
  const line: RawNode[] = [];
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const node = nodes.get(at);
    if (node) line.push(node);
  }
  return line;
}

function add(shares: Map<string, number>, name: string, delta: number): void {
  shares.set(name, (shares.get(name) ?? 0) + delta);
}

function isOurs({ callFrame: { url } }: RawNode): boolean {
  return /\/(libs|services)\/[^/]+\/dist\//.test(url);
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: RawNode): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? name : `${name} ${placeOf(url)}:${lineNumber + 1}`;
}

function placeOf(url: string): string {
  const module = /node_modules\/(?!.*node_modules\/)(.+)$/.exec(url)?.[1];
  return module ?? /\/((?:libs|services)\/.+)$/.exec(url)?.[1] ?? url;
}

function packageOf(url: string): string {
  if (url === '') return '(V8: garbage collection, program, built-ins)';
  if (url.startsWith('node:')) return 'node';
  const place = placeOf(url);
  const [first = '', second = ''] = place.split('/');
  return first.startsWith('@') || first === 'libs' || first === 'services' ? `${first}/${second}` : first;
}

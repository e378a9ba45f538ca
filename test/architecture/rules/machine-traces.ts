/** A folder or host of the machine that the check runs on, and what to call it. */
export interface MachineFact {
  readonly what: string;
  readonly text: string;
}

/** Folders of people and workplaces; a path of the project itself is relative. */
const FOREIGN_PATH = /(?<![\w.~$}-])\/(?:home|Users|root|work)\/[\w.-]+|\b[A-Z]:\\Users\\/;
/** Code asks for the temporary folder; elsewhere a fixed path in it is somebody's own. */
const TEMPORARY_PATH = /(?<![\w.~$}-])\/tmp\/[\w.-]+/;
const CODE = /\.(?:ts|js|mjs)$/;

/** A place that packages are fetched from. Everybody has the public one; names under `.example` stand for any. */
const REGISTRY_HOST = /https?:\/\/(?:[^\s/@]*@)?([\w.-]*(?:registry|artifactory|nexus|verdaccio|npm)[\w.-]*)/gi;
const PUBLIC_HOSTS = /^(?:registry\.npmjs\.org|(?:www|docs)\.npmjs\.com|.*\.example)$/;
const REGISTRY_SETTING = /^\s*(?:@[\w-]+:)?registry\s*=|_authToken|_password\s*=/m;
const RESOLVED = /"resolved": "(?!https:\/\/registry\.npmjs\.org\/|(?:libs|services)\/)([^"]+)"/g;

/** What in a file tells of the machine or the workplace it was written at, one line each. */
export function machineTraces(path: string, text: string, facts: readonly MachineFact[] = []): string[] {
  const found = [
    FOREIGN_PATH.exec(text)?.[0],
    CODE.test(path) ? undefined : TEMPORARY_PATH.exec(text)?.[0],
    ...[...text.matchAll(REGISTRY_HOST)].map(([, host]) => host).filter((host) => !PUBLIC_HOSTS.test(host ?? '')),
    path.endsWith('.npmrc') ? REGISTRY_SETTING.exec(text)?.[0].trim() : undefined,
    ...(path.endsWith('package-lock.json') ? [...text.matchAll(RESOLVED)].map(([, source]) => source) : []),
  ].filter((trace) => trace !== undefined);
  const ofThisMachine = facts.filter((fact) => holds(text, fact.text)).map(({ what }) => what);
  return [...new Set([...found, ...ofThisMachine])].map((trace) => `${path}: holds ${trace}`);
}

/** Whether a text holds a host or an absolute path; `/srv/a` is not in `../srv/a`. */
function holds(text: string, fact: string): boolean {
  for (let at = text.indexOf(fact); at >= 0; at = text.indexOf(fact, at + 1)) {
    if (!fact.startsWith('/') || !/[\w.~-]/.test(text.charAt(at - 1))) return true;
  }
  return false;
}

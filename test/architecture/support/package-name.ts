import { isBuiltin } from 'node:module';

/** The package that a specifier names: `@jetloop/client` of `@jetloop/client/x.js`. Undefined for a relative or built-in one. */
export function packageName(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('/') || isBuiltin(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The package of this project that a specifier names, by its short name. */
export function ownPackage(specifier: string): string | undefined {
  return /^@jetloop\/([^/]+)/.exec(specifier)?.[1];
}

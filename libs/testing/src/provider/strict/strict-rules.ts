/** Names and ids as every provider takes them. */
export const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const SIGNATURES: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['\x89PNG'],
  'image/jpeg': ['\xff\xd8\xff'],
  'image/gif': ['GIF8'],
  'image/webp': ['RIFF'],
};

/** Providers look at the bytes of an image, and refuse what is labelled wrongly or unknown to them. */
export function imageProblem(mediaType: string, base64: string): string | undefined {
  const signatures = SIGNATURES[mediaType];
  if (!signatures) return `media type ${mediaType} is not supported`;
  const head = Buffer.from(base64.slice(0, 64), 'base64').toString('latin1');
  return signatures.some((signature) => head.startsWith(signature))
    ? undefined
    : `the image was specified using the ${mediaType} media type, but does not appear to be one`;
}

/** The first item that stands there twice. */
export function duplicateOf(items: readonly string[]): string | undefined {
  return items.find((item, at) => items.indexOf(item) !== at);
}

/** What the first of these checks that fails says. */
export function firstProblem<T>(items: readonly T[], check: (item: T, at: number) => string | undefined) {
  for (const [at, item] of items.entries()) {
    const problem = check(item, at);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

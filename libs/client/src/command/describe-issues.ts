interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What does not fit a contract, on one line: each place with what was expected. */
export function describeIssues(owner: string, issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => `${[owner, ...path.map(String)].join('.')}: ${message}`).join('; ');
}

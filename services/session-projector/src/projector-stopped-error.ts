export type StopCode = 'journal_older' | 'journal_recreated' | 'position_lost' | 'projection_version';

/** What was projected and the journal do not belong together: going on would mix two histories. A person has to choose. */
export class ProjectorStoppedError extends Error {
  override readonly name = 'ProjectorStoppedError';
  constructor(
    readonly code: StopCode,
    problem: string,
    waysOut: string,
  ) {
    super(`${problem}. ${waysOut}`);
  }
}

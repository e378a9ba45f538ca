import { describe, expect, it } from '@jest/globals';
import { checkJournal } from './check-journal.js';

const created = '2026-11-30T00:00:00Z';
const position = { streamSequence: 10, journalCreated: created };

describe('checkJournal', () => {
  it('is content with the journal that was projected, at its end or longer', () => {
    expect(() => {
      checkJournal(position, { last: 10, created });
      checkJournal(position, { last: 11, created });
    }).not.toThrow();
  });

  it('refuses a journal that ends before what was projected, and says what to do', () => {
    expect(() => {
      checkJournal(position, { last: 9, created });
    }).toThrow(/ends at 9, .* up to 10\. Bring back the newer journal .* or rebuild/);
  });

  it('refuses a journal that was created anew, whatever its length', () => {
    expect(() => {
      checkJournal(position, { last: 99, created: '2026-12-01T00:00:00Z' });
    }).toThrow(expect.objectContaining({ code: 'journal_recreated' }));
  });
});

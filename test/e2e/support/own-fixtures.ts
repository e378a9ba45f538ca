import { join } from 'node:path';

/** Answers of providers in the wire shapes of their dialects, written by hand. */
export const OWN_FIXTURES = join(import.meta.dirname, '../../fixtures/providers');

import { z } from 'zod';

/** More than any provider counts in one answer. */
const MAX_TOKENS = 1_000_000_000;

/** A number of tokens as a provider gives it. What is no count (a fraction, a text, beyond all bounds) was not given. */
export const tokenCount = z.number().int().min(0).max(MAX_TOKENS).nullish().catch(undefined);

/** The schema of all tables; the first of the search path on every connection made here. */
export const SCHEMA = 'jetloop';

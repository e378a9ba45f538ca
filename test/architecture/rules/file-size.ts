import { shippedFiles, type Rule } from '../support/source-tree.js';

export const MAX_LINES = 350;

/** A file longer than this holds more than one idea. */
export const fileSize: Rule = (tree) =>
  shippedFiles(tree).flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length;
    return lines > MAX_LINES ? [`${path}: ${lines} lines, expected at most ${MAX_LINES}`] : [];
  });

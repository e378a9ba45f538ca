import { shippedFiles, type Rule } from '../support/source-tree.js';

const IMPURE =
  /\b(?:Date\.now|performance\.now|Math\.random|randomUUID|randomBytes|process\.\w+|setTimeout|new Date\(\))/;

/** The session core reads no clock, makes no random value and waits for nothing: time and ids are its inputs. */
export const pureCore: Rule = (tree) =>
  shippedFiles(tree)
    .filter(({ home }) => home === 'libs/session')
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((content, index) => {
        const found = IMPURE.exec(content)?.[0];
        return found === undefined ? [] : [`${path}:${index + 1}: the session core may not use ${found}`];
      }),
    );

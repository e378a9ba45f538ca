/** Characters that are not seen: soft hyphen, joiners, direction marks, variation selectors, byte order mark. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** A text for `contains`: without case, invisible characters and compatibility forms, each run of white space one space. */
export const foldText = (text: string): string =>
  text.normalize('NFKC').replace(invisible, '').toLowerCase().replace(/\s+/gu, ' ');

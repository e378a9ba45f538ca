/** Characters that are not seen: soft hyphen, joiners, direction marks, variation selectors, byte order mark. */
const invisible = /[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]/gu;

/** A text for `contains`: without case, invisible characters and compatibility forms, each run of white space one space. */
export const foldText = (text: string): string =>
  text.normalize('NFKC').replace(invisible, '').toLowerCase().replace(/\s+/gu, ' ');

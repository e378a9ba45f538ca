import { describe, expect, it } from '@jest/globals';
import { CommandRefusedError } from '../errors.js';
import { checkContent, MAX_CONTENT_BYTES } from './check-content.js';

function refusal(content: Parameters<typeof checkContent>[0]): CommandRefusedError {
  try {
    checkContent(content);
  } catch (error) {
    if (error instanceof CommandRefusedError) return error;
    throw error;
  }
  throw new Error('The content was not refused.');
}

describe('checkContent', () => {
  it('makes one text block of a text', () => {
    expect(checkContent('Hello')).toEqual([{ type: 'text', text: 'Hello' }]);
  });

  it('takes content up to 768 KiB as JSON and refuses one byte more, saying what was expected', () => {
    const room = MAX_CONTENT_BYTES - JSON.stringify([{ type: 'text', text: '' }]).length;
    expect(checkContent('a'.repeat(room))).toHaveLength(1);
    expect(refusal('a'.repeat(room + 1))).toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('expected at most 768 KiB'),
    });
  });

  it('counts bytes and not characters', () => {
    expect(refusal('ä'.repeat(MAX_CONTENT_BYTES / 2)).code).toBe('too_large');
  });

  it.each([[''], [' \n\t'], [[{ type: 'text' as const, text: ' ' }]], [[]]])(
    'refuses the empty content %j',
    (content) => {
      expect(refusal(content).code).toBe('invalid');
    },
  );

  it('takes a picture without text', () => {
    const picture = { type: 'image' as const, mediaType: 'image/png', base64: 'AA==' };
    expect(checkContent([picture])).toEqual([picture]);
  });
});

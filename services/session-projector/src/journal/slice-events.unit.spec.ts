import { describe, expect, it } from '@jest/globals';
import { sliceEvents } from './slice-events.js';

const slices = (text: string): string[] => sliceEvents(Buffer.from(text)).map((slice) => Buffer.from(slice).toString());

describe('sliceEvents', () => {
  it('gives the bytes of each event, untouched', () => {
    const events = ['{"b" : 1, "a":[2,{"x":"],}"}]}', '{ "text":"a \\" quote, \\\\" }', '{}'];
    expect(slices(`{"tenant":"acme","events":[${events.join(' ,\n')}],"at":"now"}`)).toEqual(events);
  });

  it('is not led astray by what looks like the events elsewhere', () => {
    expect(slices('{"x":{"events":[1]},"y":"\\"events\\":[2]","events":[3]}')).toEqual(['3']);
  });

  it('takes the last of two members of that name, as the parser does, and reads escaped names', () => {
    expect(slices('{"events":[1,2],"\\u0065vents":[3]}')).toEqual(['3']);
  });

  it('knows empty arrays, empty objects and spaces around', () => {
    expect(slices(' { "events" : [ ] } ')).toEqual([]);
    expect(slices('{}')).toEqual([]);
  });

  it('keeps bytes outside of ASCII', () => {
    expect(slices('{"events":["ä😀","\\ud83d"]}')).toEqual(['"ä😀"', '"\\ud83d"']);
  });

  it('agrees with the parser on every commit written by JSON.stringify', () => {
    const events = Array.from({ length: 50 }, (_, i) => ({ i, text: '\\"'.repeat(i), deep: [[{ '}': i }], '\u0000'] }));
    expect(slices(JSON.stringify({ before: '[', events, after: ']' }))).toEqual(
      events.map((event) => JSON.stringify(event)),
    );
  });
});

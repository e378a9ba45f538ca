import { z } from 'zod';

const anthropicFrame = z.looseObject({
  delta: z.looseObject({ text: z.string().optional(), thinking: z.string().optional() }).optional(),
  content: z.array(z.looseObject({ text: z.string().optional(), thinking: z.string().optional() })).optional(),
});
const googleFrame = z.looseObject({
  candidates: z.array(
    z.looseObject({
      content: z.looseObject({
        parts: z.array(z.looseObject({ text: z.string().default(''), thought: z.boolean().default(false) })),
      }),
    }),
  ),
});

/** What a recorded file says, read without any adapter. */
export function saidIn(raw: string, dialect: string): { text: string; reasoning: string } {
  if (dialect === 'anthropic') {
    const pieces = framesOf(raw).flatMap((frame) => {
      const { delta, content } = anthropicFrame.parse(frame);
      return [...(delta ? [delta] : []), ...(content ?? [])];
    });
    const all = (key: 'text' | 'thinking') => pieces.map((piece) => piece[key] ?? '').join('');
    return { text: all('text'), reasoning: all('thinking') };
  }
  if (dialect === 'google') {
    const parts = framesOf(raw).flatMap((frame) =>
      googleFrame.parse(frame).candidates.flatMap(({ content }) => content.parts),
    );
    const all = (thought: boolean) => parts.map((part) => (part.thought === thought ? part.text : '')).join('');
    return { text: all(false), reasoning: all(true) };
  }
  return { text: stringsOf(raw, 'content'), reasoning: stringsOf(raw, 'reasoning_content') };
}

function framesOf(raw: string): unknown[] {
  const lines = raw.split('\n').filter((line) => line.trim() !== '');
  return raw.startsWith('{\n') ? [JSON.parse(raw)] : lines.map((line): unknown => JSON.parse(line));
}

function stringsOf(raw: string, key: string): string {
  return [...raw.matchAll(new RegExp(`"${key}":\\s*("(?:[^"\\\\]|\\\\.)*")`, 'g'))]
    .map(([, literal = '""']) => String(JSON.parse(literal)))
    .join('');
}

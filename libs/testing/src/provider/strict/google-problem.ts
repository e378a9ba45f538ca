import { z } from 'zod';
import { firstProblem, imageProblem, WIRE_NAME } from './strict-rules.js';

const json = z.record(z.string(), z.unknown());
const part = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  inlineData: z.object({ mimeType: z.string(), data: z.string() }).optional(),
  fileData: z.object({ mimeType: z.string(), fileUri: z.string() }).optional(),
  functionCall: z.looseObject({ id: z.string().optional(), name: z.string(), args: json }).optional(),
  functionResponse: z.looseObject({ id: z.string().optional(), name: z.string(), response: json }).optional(),
});
type GooglePart = z.output<typeof part>;
const content = z.object({ role: z.enum(['user', 'model']), parts: z.array(part) });
type Content = z.output<typeof content>;
const request = z.looseObject({
  contents: z.array(content).min(1),
  tools: z.array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })) })).optional(),
});

/** What the Gemini API refuses. */
export function googleProblem(body: unknown): string | undefined {
  const parsed = request.safeParse(body);
  if (!parsed.success) return `${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`;
  const { contents, tools = [] } = parsed.data;
  const names = tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name));
  const badTool = names.find((name) => !WIRE_NAME.test(name));
  if (badTool !== undefined) return `Invalid function name: ${badTool}`;
  if (contents[0]?.role !== 'user') return 'Please ensure that the conversation begins with a user turn';
  return firstProblem(contents, (entry, at) => {
    const problem = turnProblem(entry, contents[at - 1], contents[at + 1]);
    return problem === undefined ? undefined : `contents[${at}]: ${problem}`;
  });
}

function turnProblem({ role, parts }: Content, before: Content | undefined, after: Content | undefined) {
  if (parts.length === 0) return 'parts must not be empty';
  if (role === 'model' && before?.role === 'model') return 'two model turns behind each other';
  if (isSpoken({ role, parts }) && isSpoken(before)) return 'two user turns behind each other';
  const calls = parts.flatMap(({ functionCall }) => (functionCall ? [keyOf(functionCall)] : []));
  const responses = parts.flatMap(({ functionResponse }) => (functionResponse ? [keyOf(functionResponse)] : []));
  const open = (before?.parts ?? []).flatMap(({ functionCall }) => (functionCall ? [keyOf(functionCall)] : []));
  const answers = (after?.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse ? [keyOf(functionResponse)] : [],
  );
  if (responses.length > 0 && responses.join() !== open.join()) {
    return 'the number of function response parts must equal the number of function call parts of the function call turn';
  }
  if (calls.length > 0 && answers.length === 0) return 'a function call turn must be followed by its responses';
  return firstProblem(parts, partProblem);
}

function isSpoken(turn: Content | undefined): boolean {
  return turn?.role === 'user' && turn.parts.every((each) => each.functionResponse === undefined);
}

/** Of the three only Google takes heic and heif. */
function isHeif({ mimeType, data }: { readonly mimeType: string; readonly data: string }): boolean {
  const isNamedSo = mimeType === 'image/heic' || mimeType === 'image/heif';
  return isNamedSo && Buffer.from(data.slice(0, 64), 'base64').toString('latin1').startsWith('ftyp', 4);
}

function partProblem(value: GooglePart): string | undefined {
  const { text, thoughtSignature, inlineData, functionCall, functionResponse } = value;
  const named = functionCall ?? functionResponse;
  if (named && !WIRE_NAME.test(named.name)) return `Invalid function name: ${named.name}`;
  if (inlineData && !isHeif(inlineData)) return imageProblem(inlineData.mimeType, inlineData.data);
  if (text?.trim() === '' && thoughtSignature === undefined) return 'text must not be empty';
  return [text, inlineData, functionCall, functionResponse, value.fileData].every((data) => data === undefined)
    ? 'part must have one initialized field'
    : undefined;
}

function keyOf({ id = '', name }: { readonly id?: string | undefined; readonly name: string }): string {
  return `${name}/${id}`;
}

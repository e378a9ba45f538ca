// Tools that do nothing: what a call of them takes is what the runner adds.
import { defineTool } from '@jetloop/tool-runner';
import { z } from 'zod';

const nothing = (name, readonly) =>
  defineTool({ name, description: 'Does nothing.', input: z.object({}), readonly, run: () => 'done' });

export default [nothing('nothing', true), nothing('nothing_once', false)];

// A policy in TypeScript: some tools only in office hours, and a reminder of the time before each step.
//
//   JETLOOP_POLICY_MODULES=./examples/policies/office-hours.ts
//
// and in a policy set:  { name: hours, seams: [pre-tool, pre-step], plugin: { name: office-hours, options: { from: 8, to: 18 } } }
import { definePolicy } from '@jetloop/hook-policy';
import { z } from 'zod';

const hour = z.number().int().min(0).max(24);

export default definePolicy({
  name: 'office-hours',
  options: z.object({ from: hour, to: hour, tools: z.array(z.string()).default(['bash']) }),
  seams: {
    'pre-tool': ({ name }, { options: { from, to, tools } }) => {
      const now = new Date().getHours();
      if (!tools.includes(name) || (now >= from && now < to)) return undefined;
      return { decision: 'deny', reason: `${name} runs from ${from} to ${to} o'clock: say what is left to do.` };
    },
    'pre-step': async ({ messages, estimatedTokens }) => {
      if (estimatedTokens > 100_000) return { decision: 'compact' };
      const isFirst = (await messages()).every(({ role }) => role !== 'assistant');
      if (!isFirst) return undefined;
      return { decision: 'none', context: [{ type: 'text', text: `It is ${new Date().toISOString()}.` }] };
    },
  },
});

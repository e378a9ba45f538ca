import type { Plan, PlanEntryStatus } from '@agentclientprotocol/sdk';
import { controlTools, type Json } from '@jetloop/contracts';
import { z } from 'zod';

const STATUS: Readonly<Record<'pending' | 'in_progress' | 'done', PlanEntryStatus>> = {
  pending: 'pending',
  in_progress: 'in_progress',
  done: 'completed',
};

/** The plan that a call of `todo_write` makes; the list has no priorities. Undefined for arguments that do not fit. */
export function planOfTodos(effective: unknown): Plan | undefined {
  const { data } = controlTools.todo_write.input.safeParse(effective);
  return (
    data && {
      entries: data.items.map(({ text, status }) => ({ content: text, priority: 'medium', status: STATUS[status] })),
    }
  );
}

const planSchema = z.looseObject({
  entries: z.array(
    z.looseObject({
      content: z.string(),
      priority: z.enum(['high', 'medium', 'low']),
      status: z.enum(['pending', 'in_progress', 'completed']),
    }),
  ),
});

/** The plan that an external agent sent, unknown fields kept. Undefined for what is no plan. */
export function planOfHarness(value: Json): Plan | undefined {
  return planSchema.safeParse(value).data;
}

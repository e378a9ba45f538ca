import { seamSchema, type Seam } from '@jetloop/contracts';
import { z } from 'zod';
import { checkForm } from './check-form.js';
import { checkConditions, checkDecision } from './check-seams.js';
import { formOptionSchemas, formSchemas } from './policy-forms.schema.js';
import { decideSchema, globs, nameSchema, whenSchema } from './rule-parts.schema.js';

const entrySchema = z
  .strictObject({
    name: nameSchema,
    order: z.number().int().default(0),
    mode: z.enum(['enforce', 'observe']).default('enforce'),
    seam: seamSchema.optional(),
    seams: z.array(seamSchema).min(1).optional(),
    when: whenSchema.default({}),
    decide: decideSchema.optional(),
    ...formSchemas,
    ...formOptionSchemas,
  })
  .superRefine((entry, context) => {
    const report = (path: string[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    if ((entry.seam === undefined) === (entry.seams === undefined)) {
      report(['seams'], 'expected either seam (one) or seams (a list)');
    }
    const seams = seamsOf(entry);
    checkConditions(seams, entry.when, report);
    if (entry.decide) checkDecision(seams, entry.decide, report);
    checkForm(seams, entry, report);
  })
  .transform(({ seam, seams, ...entry }) => ({ ...entry, seams: seamsOf({ seam, seams }) }));
/** One policy of a set, in one of the five forms. */
export type PolicyEntry = z.infer<typeof entrySchema>;

function seamsOf(entry: { seam?: Seam | undefined; seams?: Seam[] | undefined }): Seam[] {
  return entry.seams ?? (entry.seam ? [entry.seam] : []);
}

/** A policy set: what is parsed is what is stored, and it parses to itself again. */
export const policySetSchema = z.strictObject({
  name: nameSchema,
  description: z.string().optional(),
  tenants: globs,
  agents: globs,
  policies: z
    .array(entrySchema)
    .min(1, 'expected at least one policy')
    .superRefine((entries, context) => {
      const seen = new Set<string>();
      entries.forEach((entry, i) => {
        if (seen.has(entry.name)) {
          context.addIssue({
            code: 'custom',
            path: [i, 'name'],
            message: `expected a name of its own: "${entry.name}" is taken`,
          });
        }
        seen.add(entry.name);
      });
    }),
});
export type PolicySet = z.infer<typeof policySetSchema>;

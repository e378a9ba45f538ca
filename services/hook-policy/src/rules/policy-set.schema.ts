import { seamSchema, type Seam } from '@jetloop/contracts';
import { z } from 'zod';
import { checkSeams } from './check-seams.js';
import { decideSchema, globs, nameSchema, whenSchema } from './rule-parts.schema.js';

const ruleSchema = z
  .strictObject({
    name: nameSchema,
    order: z.number().int().default(0),
    mode: z.enum(['enforce', 'observe']).default('enforce'),
    seam: seamSchema.optional(),
    seams: z.array(seamSchema).min(1).optional(),
    when: whenSchema.default({}),
    decide: decideSchema,
  })
  .superRefine((rule, context) => {
    if ((rule.seam === undefined) === (rule.seams === undefined)) {
      context.addIssue({ code: 'custom', path: ['seams'], message: 'expected either seam (one) or seams (a list)' });
    }
    checkSeams(seamsOf(rule), rule.when, rule.decide, (path, message) => {
      context.addIssue({ code: 'custom', path, message });
    });
  })
  .transform(({ seam, seams, ...rule }) => ({ ...rule, seams: seamsOf({ seam, seams }) }));
/** One declarative policy of a set. */
export type Rule = z.infer<typeof ruleSchema>;

function seamsOf(rule: { seam?: Seam | undefined; seams?: Seam[] | undefined }): Seam[] {
  return rule.seams ?? (rule.seam ? [rule.seam] : []);
}

/** A policy set: what is parsed is what is stored, and it parses to itself again. */
export const policySetSchema = z.strictObject({
  name: nameSchema,
  description: z.string().optional(),
  tenants: globs,
  agents: globs,
  policies: z
    .array(ruleSchema)
    .min(1, 'expected at least one policy')
    .superRefine((rules, context) => {
      const seen = new Set<string>();
      rules.forEach((rule, i) => {
        if (seen.has(rule.name)) {
          context.addIssue({
            code: 'custom',
            path: [i, 'name'],
            message: `expected a name of its own: "${rule.name}" is taken`,
          });
        }
        seen.add(rule.name);
      });
    }),
});
export type PolicySet = z.infer<typeof policySetSchema>;

import { type Environment, variable } from './environment.js';
import { InfraError } from './infra-error.js';

export type ChosenOrigin =
  { readonly from: 'given'; readonly url: string } | { readonly from: 'containers' | 'embedded' };

/** Decides where one server comes from: its address in the environment, then containers on demand, then embedded. */
export function chooseOrigin(env: Environment, addressVariable: 'NATS_URL' | 'DATABASE_URL'): ChosenOrigin {
  const url = variable(env, addressVariable);
  if (url !== undefined) return { from: 'given', url };
  const infra = variable(env, 'JETLOOP_INFRA');
  if (infra === undefined || infra === 'embedded') return { from: 'embedded' };
  if (infra === 'containers') return { from: 'containers' };
  throw new InfraError(`JETLOOP_INFRA is "${infra}"; expected "containers", "embedded" or nothing.`);
}

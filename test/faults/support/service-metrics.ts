import type { ServiceProcess } from '@jetloop/testing';
import { z } from 'zod';

const readyLine = z.object({ msg: z.literal('ready'), port: z.number() });

/** What a service process serves at `/metrics`; it has to be started with a port. */
export async function metricsOf({ lines }: ServiceProcess): Promise<string> {
  const ready = lines.find((line) => line.includes('"msg":"ready"')) ?? 'null';
  const { port } = readyLine.parse(JSON.parse(ready));
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  return answer.text();
}

/** The values of a metric by its labels, each but `service` as `name=value`, joined with a comma. */
export function valuesOf(metrics: string, name: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const [, labels = '', value] of metrics.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const given = [...labels.matchAll(/(\w+)="([^"]*)"/g)].filter(([, label]) => label !== 'service');
    values.set(given.map(([, label, of]) => `${label}=${of}`).join(), Number(value));
  }
  return values;
}

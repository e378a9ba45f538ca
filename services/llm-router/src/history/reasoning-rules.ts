import type { ToolCallBlock } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';

export type BlockState = NonNullable<ToolCallBlock['state']>;

/** Reasoning state goes to the dialect and model that it came from, and to nobody else (spec 4.5). */
export function keepsStateOf({ dialect, model }: Target): (state: BlockState) => boolean {
  return (state) => state.dialect === dialect && state.model === model;
}

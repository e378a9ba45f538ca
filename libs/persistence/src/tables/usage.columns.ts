/** Tokens by bucket and what they cost: the same columns wherever model use is summed. */
export interface UsageColumns {
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  /** USD. */
  cost: number;
  /** false: some price was unknown, so `cost` is only the known part. */
  cost_complete: boolean;
}

/** One row a message of a conversation, blocked prompts too. */
export interface MessagesTable {
  tenant: string;
  session_id: string;
  seq: number;
  turn: number;
  step: number | null;
  role: 'user' | 'assistant' | 'context' | 'steering' | 'blocked';
  time: Date;
  message_id: string | null;
  source_kind: string | null;
  source_name: string | null;
  text: string;
  content: unknown;
  finish_reason: string | null;
  reason: string | null;
}

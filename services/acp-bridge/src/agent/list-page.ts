import type { SessionInfo } from '@agentclientprotocol/sdk';
import type { ListedSession } from '@jetloop/client';
import { invalidParams } from './request-error.js';

/** Sessions of one answer to `session/list`. */
export const PAGE_SIZE = 50;

const TITLE_LENGTH = 80;

export function pageToken(position: number): string {
  return position.toString(36);
}

/** @throws RequestError -32602 for what is no token of ours */
export function pageStart(token: string): number {
  const position = /^[0-9a-z]{1,11}$/.test(token) ? Number.parseInt(token, 36) : 0;
  if (!Number.isSafeInteger(position) || position < 1)
    throw invalidParams('cursor: expected the nextCursor of a session/list before');
  return position;
}

/** A session as editors list it: its title is the first line of its first prompt. */
export function listedSession({ session, workspace, firstPrompt, updatedAt }: ListedSession): SessionInfo {
  const [line = ''] = (firstPrompt ?? '').trim().split('\n', 1);
  const title = line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH)}…` : line;
  return { sessionId: session, cwd: workspace, updatedAt, ...(title === '' ? {} : { title }) };
}

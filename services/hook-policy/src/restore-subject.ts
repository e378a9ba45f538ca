import type { ContentBlock, InputBlock, SeamSubject } from '@jetloop/contracts';
import type { ClaimCheck } from '@jetloop/messaging';

/** The subject with the contents that the command only refers to: policies look at what was said, not at a reference. */
export async function restoreSubject(
  check: Pick<ClaimCheck, 'restore'>,
  { tenant, session }: { readonly tenant: string; readonly session: string },
  subject: SeamSubject,
): Promise<SeamSubject> {
  const restore = (content: readonly ContentBlock[]) => check.restore(tenant, session, content);
  if (subject.seam === 'prompt-submit') {
    const content = await restore(subject.content);
    return { ...subject, content: content.filter(isInput) };
  }
  if (subject.seam !== 'post-tool') return subject;
  return { ...subject, result: { ...subject.result, content: await restore(subject.result.content) } };
}

function isInput(block: ContentBlock): block is InputBlock {
  return block.type !== 'reasoning' && block.type !== 'tool-call';
}

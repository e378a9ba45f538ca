import { awaitedWork, type AwaitedWork, type SessionState } from '@jetloop/session';

/** What a session waits for, in words; nothing: it is idle. People first. */
export function waitsFor(state: SessionState): string[] {
  const { turn } = state;
  const step = turn?.phase.at === 'step' ? turn.phase.step : undefined;
  const calls = (step?.answer?.calls ?? []).flatMap(({ approval, settled }) =>
    approval && !approval.outcome && !settled ? [approval.approvalId] : [],
  );
  const approvals = [...calls, ...(step?.harness?.approvals.keys() ?? [])].map((id) => `approval ${id}`);
  return [...approvals, ...awaitedWork(state).map(inWords)];
}

function inWords({ kind, command }: AwaitedWork): string {
  switch (kind) {
    case 'llm':
      return 'model';
    case 'tool':
      return command.op === 'list' ? 'list of tools' : `tool ${command.name}`;
    case 'hook':
      return `policies at ${command.subject.seam}`;
    case 'acp':
      return 'external agent';
  }
}

import { describe, expect, it } from '@jest/globals';
import { SessionDriver } from '../session-driver.fixture.spec.js';

function withChild(): SessionDriver {
  const session = new SessionDriver().create({ tools: ['spawn_agent'] });
  session.prompt('go');
  session.toolsAre('spawn_agent');
  session.modelSays({ calls: [{ name: 'spawn_agent', arguments: '{"agent":"other","prompt":"do it"}' }] });
  return session;
}

describe('a child that does not end in time', () => {
  it('is sent its end though its step ends with the same commit, and no second time in the next turn but one', () => {
    const session = withChild();
    session.timer('child-1-1-0');
    expect(session.types().slice(-3)).toEqual(['tool.result', 'step.end', 'step.start']);
    expect(session.outstandingNames()).toEqual(['llm', 'child cancel']);
    session.modelSays({ text: 'without it, then' });
    for (const prompt of ['two', 'three']) {
      session.prompt(prompt);
      session.toolsAre('spawn_agent');
      session.modelSays({ text: 'yes' });
    }
    expect(session.outstandingNames()).toEqual([]);
    expect(session.resent).toEqual([]);
  });

  it('is not sent one when it ended by itself', () => {
    const session = withChild();
    session.childEnds('done');
    expect(session.outstandingNames()).toEqual(['llm']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { startStrictProvider, type StrictProvider } from './start-strict-provider.js';

const ask = (provider: StrictProvider, messages: unknown[]) =>
  fetch(`${provider.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'helper', stream: true, messages }),
  });

describe('the strict provider', () => {
  it('answers by its script, and stops quietly', async () => {
    const provider = await startStrictProvider();
    provider.script('helper', [{ text: 'Hello to you' }]);
    expect(await (await ask(provider, [{ role: 'user', content: 'Hello' }])).text()).toContain('Hello to you');
    await provider.stop();
  });

  it('answers 400 to a result without its call, and does not let that pass when it stops', async () => {
    const provider = await startStrictProvider();
    provider.script('helper', () => ({ text: 'fine' }));
    const orphan = { role: 'tool', tool_call_id: 'call_1', content: 'done' };
    expect((await ask(provider, [{ role: 'user', content: 'Go' }, orphan])).status).toBe(400);
    await expect(provider.stop()).rejects.toThrow('refused 1 requests:\nhelper: ');
  });
});

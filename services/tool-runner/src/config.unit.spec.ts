import { describe, expect, it } from '@jest/globals';
import { readToolRunnerSettings } from './config.js';

const read = (env: NodeJS.ProcessEnv) => readToolRunnerSettings(env, '/');

describe('the settings of a runner', () => {
  it('are nothing where nothing is set', async () => {
    expect(await read({})).toEqual({ toolLimits: {}, mcpAddresses: [] });
  });

  it('are read from the environment', async () => {
    const env = {
      ...{ JETLOOP_TENANT_LIMIT: '3', JETLOOP_TOOL_LIMITS: 'bash=8, http_fetch=4,', JETLOOP_TOOL_MEMORY_MB: '512' },
      ...{ JETLOOP_TOOL_PROCESSES: '50', JETLOOP_HTTP_FETCH: 'true', JETLOOP_HTTP_FETCH_ADDRESSES: '10.0.0.0/8' },
      JETLOOP_MCP_ADDRESSES: '127.0.0.1, ::1',
    };
    expect(await read(env)).toEqual({
      ...{ tenantLimit: 3, toolLimits: { bash: 8, http_fetch: 4 }, memoryMb: 512, processes: 50 },
      ...{ httpFetch: { addresses: ['10.0.0.0/8'] }, mcpAddresses: ['127.0.0.1', '::1'] },
    });
  });

  it.each([
    ['JETLOOP_TENANT_LIMIT', '0'],
    ['JETLOOP_TOOL_HEAP_MB', '8'],
    ['JETLOOP_TOOL_LIMITS', 'bash'],
    ['JETLOOP_TOOL_LIMITS', '=8'],
    ['JETLOOP_TOOL_LIMITS', 'bash=0'],
    ['JETLOOP_TOOL_LIMITS', 'bash=1=2'],
    ['JETLOOP_HTTP_FETCH', 'yes'],
    ['JETLOOP_HTTP_FETCH_ADDRESSES', 'here'],
    ['JETLOOP_MCP_ADDRESSES', '10.0.0.0/99'],
  ])('%s=%s is refused by name', async (name, value) => {
    await expect(read({ [name]: value })).rejects.toThrow(name);
  });

  it('name the module that gives no tools', async () => {
    await expect(read({ JETLOOP_TOOL_MODULES: './none.mjs' })).rejects.toThrow(
      'tool module ./none.mjs cannot be loaded',
    );
  });
});

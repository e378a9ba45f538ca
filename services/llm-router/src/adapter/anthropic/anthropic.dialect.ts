import { createAnthropic, type AnthropicLanguageModelOptions } from '@ai-sdk/anthropic';
import type { SdkDialect } from '../sdk/sdk-dialect.js';
import { AnthropicReader } from './anthropic-reader.js';

const DEFAULT_BASE_URL = 'https://api.anthropic.com/v1';

/** Anthropic's messages, and servers that speak them. */
export const anthropicDialect: SdkDialect = {
  name: 'anthropic',

  model({ baseUrl = DEFAULT_BASE_URL, model, key = 'none', fetch }) {
    return createAnthropic({ baseURL: baseUrl.replace(/\/+$/, ''), apiKey: key, fetch })(model);
  },

  options(request, isThinking) {
    const temperature = request.temperature ?? request.target.temperature;
    // The answer is an object, never a call of a tool that nobody told of.
    const anthropic: Pick<AnthropicLanguageModelOptions, 'structuredOutputMode'> = {
      structuredOutputMode: 'outputFormat',
    };
    return {
      // A model that thinks refuses a temperature.
      ...(isThinking ? { reasoning: 'medium' } : temperature === undefined ? {} : { temperature }),
      ...(request.output ? { providerOptions: { anthropic } } : {}),
    };
  },

  reader: (providerError) => new AnthropicReader(providerError),

  asWhole({ url, body }) {
    const asked: unknown = JSON.parse(body);
    return { url, body: JSON.stringify({ ...(typeof asked === 'object' ? asked : {}), stream: false }) };
  },
};

import { createGoogle, type GoogleLanguageModelOptions } from '@ai-sdk/google';
import type { SdkDialect } from '../sdk/sdk-dialect.js';
import { GoogleReader } from './google-reader.js';

const DEFAULT_BASE_URL = 'https://generativelanguage.googleapis.com/v1beta';

/** Google's Gemini API. */
export const googleDialect: SdkDialect = {
  name: 'google',

  model({ baseUrl = DEFAULT_BASE_URL, model, key = 'none', fetch }) {
    return createGoogle({ baseURL: baseUrl.replace(/\/+$/, ''), apiKey: key, fetch })(model);
  },

  options(request, isThinking) {
    const temperature = request.temperature ?? request.target.temperature;
    const google: Pick<GoogleLanguageModelOptions, 'thinkingConfig'> = { thinkingConfig: { includeThoughts: true } };
    return {
      ...(temperature === undefined ? {} : { temperature }),
      ...(isThinking ? { reasoning: 'medium', providerOptions: { google } } : {}),
    };
  },

  reader: (providerError) => new GoogleReader(providerError),

  asWhole: ({ url, body }) => ({ url: url.replace(':streamGenerateContent?alt=sse', ':generateContent'), body }),
};

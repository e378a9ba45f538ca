import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { parseArguments } from '@jetloop/session';
import { keepsStateOf } from '../../history/reasoning-rules.js';
import { prepareHistory } from '../../history/prepare-history.js';
import type { PreparedBlock, PreparedMessage } from '../../history/prepared-message.js';
import type { ToolNames } from '../../history/tool-names.js';
import type { ModelRequest } from '../adapter.js';
import { stateOf } from './reasoning-state.js';

type AssistantPart = LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart;
type SdkName = 'anthropic' | 'google';

/** The conversation as the SDKs take it. */
export function sdkPrompt(request: ModelRequest, names: ToolNames, sdk: SdkName): LanguageModelV4Prompt {
  const { systemPrompt, messages, target, withoutReasoningState = false } = request;
  const keepsState = withoutReasoningState ? () => false : keepsStateOf(target);
  const prepared = prepareHistory(messages, target, { keepsState, imagesInResults: false });
  const system: LanguageModelV4Message[] =
    systemPrompt.trim() === '' ? [] : [{ role: 'system', content: systemPrompt }];
  const writer = new Writer(names, sdk, target.capabilities.promptCaching);
  return [...system, ...prepared.flatMap((message) => writer.message(message))];
}

class Writer {
  /** Results of one message go into one message: some providers count them. */
  private results: LanguageModelV4ToolResultPart[] = [];
  private called = new Map<string, string>();

  constructor(
    private readonly names: ToolNames,
    private readonly sdk: SdkName,
    private readonly promptCaching: boolean,
  ) {}

  message({ role, content, callId = '', isError }: PreparedMessage): LanguageModelV4Message[] {
    if (role === 'user') return [{ role, content: content.flatMap((block) => this.userPart(block)) }];
    if (role === 'assistant') {
      this.called = new Map(content.flatMap((block) => (block.type === 'tool-call' ? [[block.id, block.name]] : [])));
      this.results = [];
      const parts = content.flatMap((block) => this.assistantPart(block));
      // An answer that was cut while the model thought: a thought without what it led to is refused.
      while (parts.at(-1)?.type === 'reasoning') parts.pop();
      return [{ role, content: parts }];
    }
    const value = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    const isFirst = this.results.length === 0;
    this.results.push({
      type: 'tool-result',
      toolCallId: this.names.toWire(callId),
      toolName: this.names.toWire(this.called.get(callId) ?? ''),
      output: { type: isError === true ? 'error-text' : 'text', value },
    });
    return isFirst ? [{ role: 'tool', content: this.results }] : [];
  }

  private userPart(block: PreparedBlock): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
    if (block.type !== 'text' && block.type !== 'image') return [];
    const hint =
      this.promptCaching && block.cache ? { providerOptions: { [this.sdk]: { cacheControl: block.cache } } } : {};
    if (block.type === 'text') return [{ type: 'text', text: block.text, ...hint }];
    const { mediaType, base64, url = '' } = block;
    const data =
      base64 === undefined ? { type: 'url' as const, url: new URL(url) } : { type: 'data' as const, data: base64 };
    return [{ type: 'file', mediaType, data, ...hint }];
  }

  private assistantPart(block: PreparedBlock): AssistantPart[] {
    switch (block.type) {
      case 'text':
        return [{ type: 'text', text: block.text }];
      case 'reasoning': {
        const state = stateOf(block.state?.value);
        if (!state) return [];
        const type = state.on === 'text' ? 'text' : 'reasoning';
        return [{ type, text: block.text, providerOptions: { [this.sdk]: state.metadata } }];
      }
      case 'tool-call': {
        const parsed = parseArguments(block.arguments);
        const state = stateOf(block.state?.value);
        return [
          {
            type: 'tool-call',
            toolCallId: this.names.toWire(block.id),
            toolName: this.names.toWire(block.name),
            input: parsed.ok ? parsed.value : {},
            ...(state ? { providerOptions: { [this.sdk]: state.metadata } } : {}),
          },
        ];
      }
      case 'image':
        return [];
    }
  }
}

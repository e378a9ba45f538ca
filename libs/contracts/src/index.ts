export { TOKEN_PATTERN, tokenSchema, InvalidTokenError, requireToken } from './tokens.js';
export { jsonSchema, jsonBytes, NotJsonError, assertJson, type Json } from './json.js';
export {
  blobRefSchema,
  textBlockSchema,
  reasoningBlockSchema,
  toolCallBlockSchema,
  imageBlockSchema,
  resourceBlockSchema,
  jsonBlockSchema,
  blobBlockSchema,
  inputBlockSchema,
  contentBlockSchema,
  inputContentSchema,
  inputImageBlockSchema,
  sourceSchema,
  textOf,
  type BlobRef,
  type TextBlock,
  type BlobBlock,
  type ReasoningBlock,
  type ToolCallBlock,
  type InputBlock,
  type ContentBlock,
  type Source,
} from './content.js';
export {
  finishReasonSchema,
  MAX_RAW_FINISH_REASON,
  usageSchema,
  llmErrorCodes,
  llmErrorSchema,
  attemptSchema,
  answeringModelSchema,
  type FinishReason,
  type Usage,
  type LlmErrorCode,
  type LlmError,
  type Attempt,
  type AnsweringModel,
} from './model.js';
export {
  mcpServerSchema,
  harnessSchema,
  limitsSchema,
  budgetsSchema,
  deadlinesSchema,
  agentSpecSchema,
  type AgentSpec,
  type AgentSpecInput,
} from './agent.js';
export {
  replyKinds,
  workKinds,
  subjects,
  parseSessionSubject,
  type ReplyKind,
  type WorkKind,
  type LiveKind,
} from './subjects.js';
export {
  seams,
  seamSchema,
  seamSubjectSchema,
  policyContextSchema,
  settledResultSchema,
  seamDecisionSchema,
  plainDecision,
  changesNothing,
  type Seam,
  type SeamSubject,
  type PolicyContext,
  type SettledResult,
  type SeamDecision,
} from './seams.js';
export {
  eventSchemas,
  EVENT_VERSION,
  isEventType,
  type EventType,
  type EventData,
  type SessionEvent,
  type EventOf,
} from './events/index.js';
export { derivedMessageSchema, type DerivedMessage } from './events/session.js';
export { turnEndSchema, type TurnEnd } from './events/turn.js';
export { controlTools, isControlTool, type ControlTool } from './control-tools.js';
export { hookRunSchema, toolErrorSchema, type HookRun } from './events/tool.js';
export {
  commitSchema,
  isKnownEvent,
  InvalidCommitError,
  parseCommit,
  parseCommitEnvelope,
  assertEvent,
  type RecordedEvent,
  type UnknownEvent,
  type Commit,
} from './commit.js';
export { cloudEventSchema, toCloudEvents, type CloudEvent } from './cloud-event.js';
export {
  callerCommandSchema,
  outcomeCodes,
  outcomeSchema,
  type CallerCommand,
  type CallerCommandInput,
  type OutcomeCode,
  type Outcome,
} from './commands/caller.js';
export {
  llmCommandSchema,
  toolCommandSchema,
  hookCommandSchema,
  type FollowingQuestion,
  type LlmCommand,
  type ToolCommand,
  type HookCommand,
  type WorkCommand,
} from './commands/work.js';
export {
  acpCommandSchema,
  harnessEventSchema,
  harnessEventsSchema,
  harnessErrorSchema,
  harnessFinishedSchema,
  acpReplySchema,
  type AcpCommand,
  type HarnessEvent,
  type HarnessEvents,
  type HarnessError,
  type HarnessFinished,
  type AcpReply,
} from './commands/acp.js';
export {
  llmReplySchema,
  toolReplySchema,
  hookReplySchema,
  timerSchema,
  childReplySchema,
  replySchemas,
  type LlmReply,
  type ToolReply,
  type HookReply,
  type Timer,
  type ChildReply,
  type Reply,
} from './commands/reply.js';
export {
  liveDeltaSchema,
  liveToolSchema,
  liveAbortSchema,
  type LiveDelta,
  type LiveTool,
  type LiveAbort,
} from './live.js';
export { deadLetterSchema, type DeadLetter } from './dead-letter.js';
export {
  policySetHeaderSchema,
  readPolicySetHeader,
  matchesGlob,
  policySetApplies,
  seamsFor,
  policyVersionFor,
  type PolicySetHeader,
  type PolicyScope,
} from './policy-set.js';

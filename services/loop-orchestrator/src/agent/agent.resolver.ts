import { Inject, Injectable } from '@nestjs/common';
import type { AgentSpec, CallerCommand, OutcomeCode } from '@jetloop/contracts';
import { AgentStore } from '@jetloop/messaging';
import { ORCHESTRATOR_OPTIONS, type OrchestratorOptions } from '../options.js';

/** A `create` that names what cannot be had. */
export class ResolveError extends Error {
  override readonly name = 'ResolveError';
  constructor(
    readonly code: OutcomeCode,
    message: string,
  ) {
    super(message);
  }
}

/** The agent spec that a session is created with: from AGENTS, or inline where that is allowed. */
@Injectable()
export class AgentResolver {
  constructor(
    private readonly store: AgentStore,
    @Inject(ORCHESTRATOR_OPTIONS) private readonly options: OrchestratorOptions,
  ) {}

  /** @throws ResolveError */
  resolve(tenant: string, agent: Extract<CallerCommand, { kind: 'create' }>['agent']): AgentSpec {
    const spec = 'spec' in agent ? this.inline(agent.spec) : this.store.find(tenant, agent.name);
    if (!spec && 'name' in agent)
      throw new ResolveError('not_found', `There is no agent named ${agent.name}: put its spec into AGENTS first.`);
    if (!spec?.model && !spec?.harness)
      throw new ResolveError(
        'invalid',
        `The agent has no model: expected model.chain with at least one target, or a harness.`,
      );
    return spec;
  }

  private inline(spec: AgentSpec): AgentSpec {
    if (!this.options.allowInlineAgents)
      throw new ResolveError(
        'invalid',
        'Inline agent specs are not allowed here: expected the name of an agent in AGENTS.',
      );
    return spec;
  }
}

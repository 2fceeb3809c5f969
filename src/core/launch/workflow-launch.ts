/** What the record of a workflow says about the launches of its script. Pure. */
import type { AgentContract, LaunchDefaults, WorkflowPlan } from '../../protocol/index.ts';
import { toEntry } from '../models/index.ts';
import type { LaunchInput } from './plan-launch.ts';

type KnownAgent = WorkflowPlan['agents'][number];

/** As it was when the workflow was launched, also in records of earlier versions, which had model and level beside the definition. */
export function agentOf({
  contract,
  model,
  thinking,
}: Pick<KnownAgent, 'contract' | 'model' | 'thinking'>): AgentContract {
  return {
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...contract,
  };
}

export function settingsOf({
  defaults = {},
  defaultModel,
}: Pick<WorkflowPlan, 'defaults' | 'defaultModel'>): LaunchDefaults {
  return { ...defaults, ...(defaultModel === undefined ? {} : { model: defaultModel }) };
}

export function usableIn({ models, piDefault }: Pick<WorkflowPlan, 'models' | 'piDefault'>): LaunchInput['models'] {
  return { registry: models.map((name) => toEntry({ name })), ...(piDefault === undefined ? {} : { piDefault }) };
}

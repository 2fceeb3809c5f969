/** What a planned workflow will start, as far as it can be known: for a person who decides whether it may. */
import { workflowAgent } from '../core/agent-names/index.ts';
import { agentOf, modelsOf as candidatesOf, settingsOf } from '../core/launch/index.ts';
import { type ModelExclusion, type ModelPrice, toEntry } from '../core/models/index.ts';
import {
  type ForeseenHost,
  LanesError,
  type ScriptAnalysis,
  type TextRange,
  type WorkflowPlan,
} from '../protocol/index.ts';
import type { PlannedWorkflow } from './plan-workflow.ts';

/** The parts of a plan that tell what it will start. */
export interface PlanParts extends Pick<PlannedWorkflow, 'usable'> {
  record: { workflow: Pick<WorkflowPlan, 'agents' | 'defaultModel' | 'refusedAgents' | 'defaults' | 'piDefault'> };
  exclusions?: readonly ModelExclusion[];
  analysis: Pick<ScriptAnalysis, 'outlook'>;
}

/** Whom a launch will start. */
export interface PreviewedAgent {
  /** Null: only the script knows it, when it comes to it. */
  agent: string | null;
  /** `provider/id`; null: not known before, or Pi has no default. */
  model: string | null;
  thinking: string | null;
  /** The launch will be refused: nobody knows this agent or model. */
  problem: LanesError | null;
  /** Where it stands in the script. */
  range: TextRange;
}

export interface PreviewedChild extends PreviewedAgent {
  key: string;
  lane: string | null;
  /** It goes on with the session of another. */
  resumes: boolean;
  /** Whether the script comes to it whatever happens. */
  isSure: boolean;
}

/** Children whose number the script decides while it runs. `key`: the expression that names them. */
export interface PreviewedChildren extends PreviewedAgent {
  key: string;
}

export interface PreviewedModel {
  name: string;
  title: string;
  /** Null: Pi knows none. */
  price: ModelPrice | null;
  /** How many of the known children use it. */
  children: number;
}

export interface WorkflowPreview {
  children: PreviewedChild[];
  more: PreviewedChildren[];
  /** Whether there may be more children than the known ones. */
  hasMore: boolean;
  /** Those that children will use, in the order of their first use. */
  models: PreviewedModel[];
  hosts: ForeseenHost[];
  hasMoreHosts: boolean;
}

type Asked = { agent?: string | undefined; model?: string | undefined; isOpen: boolean; range: TextRange };

export function previewWorkflow({ record, analysis, usable, exclusions = [] }: PlanParts): WorkflowPreview {
  const { outlook } = analysis;
  const { workflow } = record;

  /** As the runner decides it (`planChild`). */
  const decide = ({ agent, model: named, isOpen, range }: Asked): PreviewedAgent => {
    const unknown = { agent: agent ?? null, model: null, thinking: null, problem: null, range };
    if (agent === undefined) return unknown;
    try {
      const known = workflowAgent(workflow, agent);
      if (isOpen && named === undefined) return { ...unknown, agent: known.name };
      const { candidates } = candidatesOf({
        call: { model: named },
        agent: agentOf(known),
        settings: settingsOf(workflow),
        models: {
          registry: usable.models.map(toEntry),
          piDefault: workflow.piDefault ?? { model: usable.defaultModel, thinking: null },
          exclusions,
        },
      });
      const [{ model, thinking }] = candidates;
      return { agent: known.name, model: model ?? usable.defaultModel, thinking, problem: null, range };
    } catch (error) {
      if (!(error instanceof LanesError)) throw error;
      return { ...unknown, problem: error };
    }
  };

  const children = (outlook?.children ?? []).map(
    (child): PreviewedChild => ({
      ...decide(child),
      key: child.key,
      lane: child.lane ?? null,
      resumes: child.resumes,
      isSure: child.isSure,
    }),
  );
  const more = (outlook?.more ?? []).map((one): PreviewedChildren => ({ ...decide(one), key: one.key }));
  return {
    children,
    more,
    hasMore: outlook?.hasMore ?? true,
    models: modelsOf(children, more, usable),
    hosts: outlook?.hosts ?? [],
    hasMoreHosts: outlook?.hasMoreHosts ?? true,
  };
}

function modelsOf(
  children: readonly PreviewedAgent[],
  more: readonly PreviewedAgent[],
  usable: PlannedWorkflow['usable'],
): PreviewedModel[] {
  const names = new Set([...children, ...more].flatMap(({ model }) => model ?? []));
  return [...names].map((name) => {
    const known = usable.models.find((model) => model.name === name);
    return {
      name,
      title: known?.title ?? name,
      price: known?.price ?? null,
      children: children.filter(({ model }) => model === name).length,
    };
  });
}

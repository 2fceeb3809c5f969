/** What a launch of this version cannot do as a definition says. Left out silently, the agent would be another one. */
import { type AgentProblem, agentProblem } from '../../protocol/index.ts';
import type { Agent } from './agent.ts';

interface Ask {
  field: string;
  isAsked: (agent: Agent) => boolean;
  /** Why it cannot be done, and what can. */
  problem: () => AgentProblem;
}

const ASKS: readonly Ask[] = [
  {
    field: 'tools',
    isAsked: ({ mcpDirectTools }) => mcpDirectTools.length > 0,
    problem: () => agentProblem('field_unsupported:servers'),
  },
  {
    field: 'tools',
    isAsked: ({ toolExtensions }) => toolExtensions.length > 0,
    problem: () => agentProblem('field_unsupported:files'),
  },
  {
    field: 'allowNestedSubagents',
    isAsked: ({ allowNestedSubagents }) => allowNestedSubagents === true,
    problem: () => agentProblem('field_unsupported:nested'),
  },
  { field: 'fast', isAsked: ({ fast }) => fast, problem: () => agentProblem('field_unsupported:fast') },
  {
    field: 'acceptance',
    isAsked: ({ acceptance }) => acceptance !== undefined && acceptance !== false,
    problem: () => agentProblem('field_unsupported:acceptance'),
  },
  {
    field: 'runner',
    isAsked: ({ runner }) => runner.type !== 'pi',
    problem: () => agentProblem('field_unsupported:runner'),
  },
];

function asked(agent: Agent & { fromSettings?: Record<string, unknown> }): readonly Ask[] {
  const { places, fromSettings = {} } = agent;
  return ASKS.filter(
    ({ field, isAsked }) => isAsked(agent) && (Object.hasOwn(places, field) || Object.hasOwn(fromSettings, field)),
  );
}

/** Names of the fields, as the file or settings have them. */
export function unsupportedFields(agent: Agent & { fromSettings?: Record<string, unknown> }): string[] {
  return [...new Set(asked(agent).map(({ field }) => field))];
}

/** The same, with the reasons. */
export function unsupportedProblems(agent: Agent): { field: string; problem: AgentProblem }[] {
  return asked(agent).map(({ field, problem }) => ({ field, problem: problem() }));
}

import type { AgentContract } from '../../protocol/index.ts';
import type { Agent } from './agent.ts';

/** The part of a definition that a run keeps: all that a launch is made from. */
export function toContract(agent: Agent): AgentContract {
  const { excludeTools = [] } = agent;
  return {
    name: agent.name,
    description: agent.description,
    source: agent.source,
    systemPrompt: agent.systemPrompt,
    systemPromptMode: agent.systemPromptMode,
    ...(agent.tools === undefined ? {} : { tools: agent.tools.filter((tool) => !excludeTools.includes(tool)) }),
    inheritProjectContext: agent.inheritProjectContext,
    inheritGlobalContext: agent.inheritGlobalContext,
    inheritSkills: agent.inheritSkills,
    ...(agent.defaultProgress ? { defaultProgress: true } : {}),
    ...declared(agent, [
      'excludeTools',
      'model',
      'defaultProvider',
      'fallbackModels',
      'thinking',
      'defaultContext',
      'timeoutMs',
      'toolTimeoutMs',
      'toolBudget',
      'skills',
      'skillPath',
      'extensions',
      'subagentOnlyExtensions',
      'output',
      'outputMode',
      'defaultReads',
      'memory',
      'permissions',
      'acceptanceRole',
    ]),
  };
}

/** Those that are there: an absent field is not one that is `undefined`. */
function declared<K extends keyof Agent>(
  agent: Agent,
  names: readonly K[],
): { [N in K]?: Exclude<Agent[N], undefined> } {
  const given: { [N in K]?: Exclude<Agent[N], undefined> } = {};
  for (const name of names) {
    const value = agent[name];
    if (isGiven(value)) given[name] = value;
  }
  return given;
}

function isGiven<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}

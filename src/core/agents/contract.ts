import type { AgentContract } from '../../protocol/index.ts';
import type { Agent } from './agent.ts';

/** The part of a definition that a run keeps. */
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
    inheritSkills: agent.inheritSkills,
  };
}

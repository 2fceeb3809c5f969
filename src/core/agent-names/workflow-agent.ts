import { LanesError, type WorkflowRecord } from '../../protocol/index.ts';
import { findAgent } from './find-agent.ts';

type AgentsOf = Pick<WorkflowRecord['workflow'], 'agents' | 'refusedAgents'>;

/**
 * The agent that a script means by a name, among those that were there when its workflow was launched.
 *
 * @throws LanesError `agent_unknown`, `agent_ambiguous`, or why this one could not be launched
 */
export function workflowAgent({ agents, refusedAgents = [] }: AgentsOf, name: string) {
  const launchable = agents.map((agent) => ({ ...agent, name: agent.contract.name }));
  const agent = findAgent(name.trim(), [...launchable, ...refusedAgents]);
  if ('error' in agent) throw new LanesError(agent.error);
  return agent;
}

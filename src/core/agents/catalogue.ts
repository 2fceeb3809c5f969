import { lanesError } from '../../protocol/index.ts';
import { type Agent, parseAgentFile } from './agent-file.ts';
import delegate from './bundled/delegate.md';
import oracle from './bundled/oracle.md';
import reviewer from './bundled/reviewer.md';
import scout from './bundled/scout.md';
import worker from './bundled/worker.md';

/** The agents that come with the product, in the order a person is shown them. */
export function bundledAgents(): Agent[] {
  const files = { worker, scout, reviewer, oracle, delegate };
  return Object.entries(files).map(([name, text]) => parseAgentFile(text, `${name}.md`, 'builtin'));
}

/** Exact name first, then alias. Throws `agent_unknown` naming what exists. Case-sensitive. */
export function findAgent<A extends Pick<Agent, 'name' | 'aliases'>>(name: string, agents: readonly A[]): A {
  const found = agents.find((agent) => agent.name === name) ?? agents.find((agent) => agent.aliases.includes(name));
  if (found) return found;
  const known = agents.map((agent) => agent.name).join(', ');
  throw lanesError('agent_unknown', { name, known });
}

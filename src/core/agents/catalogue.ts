import type { Agent } from './agent.ts';
import delegate from './bundled/delegate.md';
import oracle from './bundled/oracle.md';
import reviewer from './bundled/reviewer.md';
import scout from './bundled/scout.md';
import worker from './bundled/worker.md';
import { parseAgent } from './parse-agent.ts';

/** The agents that come with the product, in the order a person is shown them. */
export function bundledAgents(): Agent[] {
  const files = { worker, scout, reviewer, oracle, delegate };
  return Object.entries(files).map(([name, text]) => {
    const { agent, diagnostics } = parseAgent(text, { file: `${name}.md`, source: 'builtin' });
    if (!agent) throw new Error(`${name}.md: ${diagnostics[0]?.message}`);
    return agent;
  });
}

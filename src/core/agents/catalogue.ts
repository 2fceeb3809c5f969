import type { Agent } from './agent.ts';
import delegate from './bundled/delegate.md';
import oracle from './bundled/oracle.md';
import reviewer from './bundled/reviewer.md';
import scout from './bundled/scout.md';
import worker from './bundled/worker.md';
import { parseAgent } from './parse-agent.ts';

const FILES: Readonly<Record<string, string>> = { worker, scout, reviewer, oracle, delegate };

/** The file an agent that comes with the product is made from; `undefined`: there is none of this name. */
export function bundledText(name: string): string | undefined {
  return Object.hasOwn(FILES, name) ? FILES[name] : undefined;
}

/** The agents that come with the product, in the order a person is shown them. */
export function bundledAgents(): Agent[] {
  return Object.entries(FILES).map(([name, text]) => {
    const { agent, diagnostics } = parseAgent(text, { file: `${name}.md`, source: 'builtin' });
    if (!agent) throw new Error(`${name}.md: ${diagnostics[0]?.message}`);
    return agent;
  });
}

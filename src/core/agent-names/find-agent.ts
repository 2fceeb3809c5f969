import { lanesError } from '../../protocol/index.ts';

/** As much of an agent as its name is looked up by. */
export interface Named {
  name: string;
  /** Its name inside its package; absent: it has none. */
  localName?: string | undefined;
  aliases: readonly string[];
}

/** Names of agents that a message lists at most. */
const LISTED = 40;

/**
 * Its name, else the name it has inside its package, else an alias; the last two only if they mean one agent. Case-sensitive.
 *
 * @throws LanesError `agent_unknown` naming what exists, `agent_ambiguous` naming the candidates
 */
export function findAgent<A extends Named>(name: string, agents: readonly A[]): A {
  const exact = agents.find((agent) => agent.name === name);
  if (exact) return exact;
  const found =
    oneOf(
      name,
      agents.filter(({ localName }) => localName === name),
    ) ??
    oneOf(
      name,
      agents.filter(({ aliases }) => aliases.includes(name)),
    );
  if (found) return found;
  throw lanesError('agent_unknown', { name, known: listed(agents) });
}

function oneOf<A extends Named>(name: string, candidates: readonly A[]): A | undefined {
  if (candidates.length > 1) throw lanesError('agent_ambiguous', { name, candidates: listed(candidates) });
  return candidates[0];
}

export function listed(agents: readonly Named[]): string {
  const names = agents.slice(0, LISTED).map(({ name }) => name);
  const more = agents.length - names.length;
  return more > 0 ? `${names.join(', ')}, … (+${more})` : names.join(', ');
}

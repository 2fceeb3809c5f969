/** The agents of a launch: what is found for its folder, and why one of them cannot be launched. */
import { join } from 'node:path';
import { findAgent, listed, type Named } from '../core/agent-names/index.ts';
import { type Discovered, type FoundAgent, unsupportedFields } from '../core/agents/index.ts';
import { describeError, type ErrorValue, LanesError, type LaunchRecord, lanesError } from '../protocol/index.ts';
import type { Toolbox } from './toolbox.ts';

/** A name that nothing is launched by, and why. */
export interface RefusedName extends Named {
  error: ErrorValue;
}

export interface LaunchableAgents {
  agents: FoundAgent[];
  refused: RefusedName[];
}

interface LaunchPlace {
  /** Absolute. */
  cwd: string;
  trust: LaunchRecord['trust'];
}

/** @throws LanesError when there is no such agent, or it cannot be launched as it is defined */
export async function agentForLaunch(toolbox: Toolbox, name: string, place: LaunchPlace): Promise<FoundAgent> {
  const found = await discoverFor(toolbox, place);
  const { agents, refused } = launchable(toolbox, found, place.trust);
  const agent = namedIn(name, [...agents, ...refused], found, place.cwd);
  if ('error' in agent) throw new LanesError(agent.error);
  return agent;
}

/** All that a script may name. */
export async function agentsForWorkflow(toolbox: Toolbox, place: LaunchPlace): Promise<LaunchableAgents> {
  return launchable(toolbox, await discoverFor(toolbox, place), place.trust);
}

/** Agents of a project nobody trusts are found, and refused by name; its settings decide nothing. */
function discoverFor(toolbox: Toolbox, { cwd, trust }: LaunchPlace): Promise<Discovered> {
  return toolbox.discoverAgents(cwd, { projectSettings: trust === 'approve' });
}

function launchable(
  { agentDir }: Toolbox,
  { agents, refused, disabled, diagnostics }: Discovered,
  trust: LaunchRecord['trust'],
): LaunchableAgents {
  // Settings of a project that nobody trusts decide nothing.
  const broken = diagnostics.find(
    ({ code, file }) =>
      code === 'settings_invalid' && (trust === 'approve' || file === join(agentDir, 'settings.json')),
  );
  if (broken) {
    const { file, line, column, message } = broken;
    throw lanesError('config_invalid:agents', { file, line, column, reason: message });
  }
  const result: LaunchableAgents = {
    agents: [],
    refused: [
      ...refused.map(({ name, diagnostic: { file, line, column, message } }) => ({
        name,
        aliases: [],
        error: describeError('agent_invalid', { name, file, line, column, reason: message }),
      })),
      ...disabled.map(({ agent: { name, localName, aliases }, by: { setting, file, line, column } }) => ({
        name,
        localName,
        aliases,
        error: describeError('agent_disabled', { name, setting, file, line, column }),
      })),
    ],
  };
  for (const agent of agents) {
    const error = obstacle(agent, trust);
    const { name, localName, aliases } = agent;
    if (error) result.refused.push({ name, localName, aliases, error });
    else result.agents.push(agent);
  }
  return result;
}

function obstacle(agent: FoundAgent, trust: LaunchRecord['trust']): ErrorValue | undefined {
  const { name, file } = agent;
  if (agent.isOfProject && trust !== 'approve') return describeError('agent_untrusted', { name, file });
  const fields = unsupportedFields(agent);
  return fields.length === 0
    ? undefined
    : describeError('agent_unsupported', { name, file, fields: fields.join(', ') });
}

function namedIn<A extends Named>(name: string, agents: readonly A[], { directories }: Discovered, cwd: string): A {
  try {
    return findAgent(name, agents);
  } catch (error) {
    if (!(error instanceof LanesError) || error.code !== 'agent_unknown') throw error;
    const places = directories.map(({ path, state, candidates }) =>
      state === 'candidates' ? `${path} (${candidates})` : `${path} (${state})`,
    );
    throw lanesError('agent_unknown:places', { name, cwd, known: listed(agents), places: places.join(', ') });
  }
}

/** Which setting disables or enables an agent, and who else has a say in it. Pure. */
import { lanesError } from '../../protocol/index.ts';
import { findAgent } from '../agent-names/index.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { Discovered } from './discovery.ts';
import type { SettingPlace } from './overrides.ts';

export interface Switch {
  /** The whole name of the agent. */
  name: string;
  scope: 'user' | 'project';
  /** Of the value in the file of settings. */
  path: string[];
  /** `undefined`: the setting is removed. */
  value: boolean | undefined;
}

/**
 * @param given as a launch would name it
 * @param scope default: who disables it; else the project for its own agents, the user for all others
 * @param project settings of the project; `undefined`: there is none
 * @throws LanesError `agent_unknown`, `agent_ambiguous`, and `agent_kept` when the project keeps enabled what the user would disable
 */
export function planSwitch(
  given: string,
  isEnabled: boolean,
  {
    found,
    scope: wanted,
    project,
  }: { found: Discovered; scope?: 'user' | 'project' | undefined; project: AgentSettings | undefined },
): Switch {
  const { name, isOfProject, by } = named(given, found);
  const scope = wanted ?? (by ? (by.file === project?.file ? 'project' : 'user') : isOfProject ? 'project' : 'user');
  const kept = project?.overrides.get(name);
  if (!isEnabled && scope === 'user' && kept?.values.disabled === false && kept.places.disabled)
    throw lanesError('agent_kept', { name, ...placeOf(kept.places.disabled) });
  // Where all builtin agents are disabled, only saying otherwise enables one.
  const isException = by?.setting === 'subagents.disableBuiltins';
  const value = isEnabled ? (isException ? false : undefined) : true;
  return { name, scope, path: ['subagents', 'agentOverrides', name, 'disabled'], value };
}

/** @throws LanesError `agent_disabled` when an agent that was enabled is disabled by somebody else */
export function checkEnabled(name: string, found: Discovered): void {
  const { by } = named(name, found);
  if (by) throw lanesError('agent_disabled', { name, ...placeOf(by) });
}

function placeOf({ setting, file, line, column }: SettingPlace) {
  return { setting, file, line, column };
}

function named(name: string, { agents, disabled, refused }: Discovered) {
  return findAgent(name, [
    ...agents.map((agent) => ({ ...agent, by: undefined })),
    ...disabled.map(({ agent, by }) => ({ ...agent, by })),
    ...refused.map((one) => ({ name: one.name, aliases: [], isOfProject: false, by: undefined })),
  ]);
}

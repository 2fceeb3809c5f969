/** An agent is disabled or enabled in the settings of the user or of the project. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findAgent } from '../core/agent-names/index.ts';
import { type Discovered, findProjectRoot, type SettingPlace } from '../core/agents/index.ts';
import { editJsonFile } from '../core/json-files/index.ts';
import { lanesError } from '../protocol/index.ts';
import type { Toolbox } from './toolbox.ts';

export type SettingsScope = 'user' | 'project';

export interface SwitchRequest {
  /** As a launch would name it. */
  name: string;
  enabled: boolean;
  /** Default: who disables it; else the project for its own agents, the user for all others. */
  scope?: SettingsScope | undefined;
  /** Absolute. */
  cwd: string;
}

export interface Switched {
  name: string;
  scope: SettingsScope;
  /** Absolute. */
  file: string;
  /** False: it was so already. */
  changed: boolean;
}

/** @throws LanesError when there is no such agent, the settings cannot be changed, or others decide otherwise */
export async function switchAgent(toolbox: Toolbox, request: SwitchRequest): Promise<Switched> {
  const { enabled, cwd } = request;
  const { agent, by } = named(request.name, await toolbox.discoverAgents(cwd));
  const files = await settingsFiles(toolbox, cwd);
  const scope = request.scope ?? (by ? scopeOf(by, files) : agent.isOfProject ? 'project' : 'user');
  const file = files[scope];
  if (file === undefined) throw lanesError('config_invalid:no-project', { cwd });
  const stronger = scope === 'user' && !enabled ? await keptByProject(toolbox, cwd, agent.name) : undefined;
  if (stronger) {
    const { setting, file: other, line, column } = stronger;
    throw lanesError('agent_kept', { name: agent.name, setting, file: other, line, column });
  }
  const path = ['subagents', 'agentOverrides', agent.name, 'disabled'];
  // Where all builtin agents are disabled, only saying otherwise enables one.
  const isException = by?.setting === 'subagents.disableBuiltins';
  const changed = await editJsonFile(file, path, enabled ? (isException ? false : undefined) : true);
  if (enabled) {
    const still = named(agent.name, await toolbox.discoverAgents(cwd)).by;
    if (still) {
      const { setting, file: other, line, column } = still;
      throw lanesError('agent_disabled', { name: agent.name, setting, file: other, line, column });
    }
  }
  return { name: agent.name, scope, file, changed };
}

function named(name: string, { agents, disabled, refused }: Discovered) {
  const all = [
    ...agents.map((agent) => ({ ...agent, by: undefined })),
    ...disabled.map(({ agent, by }) => ({ ...agent, by })),
    ...refused.map((one) => ({ name: one.name, aliases: [], isOfProject: false, by: undefined })),
  ];
  const { by, ...agent } = findAgent(name, all);
  return { agent, by };
}

async function settingsFiles(toolbox: Toolbox, cwd: string): Promise<Record<SettingsScope, string | undefined>> {
  const root = await findProjectRoot(cwd, toolbox.home);
  const isProject =
    root !== undefined && ((await exists(join(root.path, '.pi'))) || (await exists(join(root.path, '.agents'))));
  return {
    user: join(toolbox.agentDir, 'settings.json'),
    project: isProject ? root.settings.file : undefined,
  };
}

function scopeOf({ file }: SettingPlace, { project }: Record<SettingsScope, string | undefined>): SettingsScope {
  return file === project ? 'project' : 'user';
}

/** Where the project says that an agent is not disabled. */
async function keptByProject(toolbox: Toolbox, cwd: string, name: string): Promise<SettingPlace | undefined> {
  const root = await findProjectRoot(cwd, toolbox.home);
  const override = root?.settings.overrides.get(name);
  return override?.values.disabled === false ? override.places.disabled : undefined;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

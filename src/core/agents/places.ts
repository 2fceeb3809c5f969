/** Folders that agents are looked for in, from the weakest to the strongest. */
import { delimiter, join, resolve } from 'node:path';
import type { AgentDiagnostic } from '../../protocol/index.ts';
import type { AgentSource } from './agent.ts';
import { type AgentSettings, absolute, readAgentSettings } from './agent-settings.ts';
import { type AgentPackage, globalPackages, installedPackages, readPackages } from './packages.ts';
import { findProjectRoot } from './project-root.ts';

export type AgentScope = 'user' | 'project' | 'both';

export interface PlacesRequest {
  /** Absolute. */
  cwd: string;
  agentDir: string;
  home: string;
  env: NodeJS.ProcessEnv;
  scope: AgentScope;
  /** Without it nothing of the project is looked at. */
  projectTrusted: boolean;
  /** Without it what the project's settings say of agents changes none. */
  projectSettings: boolean;
}

export interface Place {
  source: Exclude<AgentSource, 'builtin' | 'runtime'>;
  path: string;
  package?: { name: string; version?: string };
  /** Whose it is: a package of the project is the project's. */
  owner: 'user' | 'project';
}

export interface Places {
  places: Place[];
  /** From the weakest to the strongest. */
  settings: AgentSettings[];
  diagnostics: AgentDiagnostic[];
}

export async function findPlaces(request: PlacesRequest): Promise<Places> {
  const { agentDir, home, env, scope } = request;
  const ofUser = scope !== 'project';
  const ofProject = scope !== 'user' && request.projectTrusted;
  const cwd = resolve(request.cwd);
  const userSettings = await readAgentSettings(join(agentDir, 'settings.json'), agentDir, home);
  const project = ofProject ? await findProjectRoot(cwd, home) : undefined;
  const packages: Place[] = [];
  const diagnostics: AgentDiagnostic[] = [];
  if (project) {
    diagnostics.push(...project.settings.diagnostics);
    const installs = join(project.path, '.pi');
    packages.push(
      ...ofPackages('project', await readPackages([project.path])),
      ...ofPackages('project', await installedPackages({ installs, settings: project.settings, home })),
    );
  }
  if (ofUser) {
    diagnostics.push(...userSettings.diagnostics);
    packages.push(
      ...ofPackages('user', await installedPackages({ installs: agentDir, settings: userSettings, home })),
      ...ofPackages('user', await globalPackages(env)),
    );
  }
  const user = [
    ...extraFolders(env, cwd, home),
    ...userSettings.scanDirs,
    join(agentDir, 'agents'),
    join(home, '.agents'),
  ];
  const projectFolders = project
    ? [...project.settings.scanDirs, join(project.path, '.agents'), join(project.path, '.pi', 'agents')]
    : [];
  return {
    places: [
      // Of packages the first wins, of everything else the last.
      ...packages.reverse(),
      ...(ofUser ? user.map((path): Place => ({ source: 'user', path, owner: 'user' })) : []),
      ...projectFolders.map((path): Place => ({ source: 'project', path, owner: 'project' })),
    ],
    settings: [...(ofUser ? [userSettings] : []), ...(project && request.projectSettings ? [project.settings] : [])],
    diagnostics,
  };
}

function ofPackages(owner: Place['owner'], packages: readonly AgentPackage[]): Place[] {
  return packages.flatMap(({ name, version, directories }) =>
    directories.map(
      (path): Place => ({
        source: 'package',
        path,
        package: { name, ...(version === undefined ? {} : { version }) },
        owner,
      }),
    ),
  );
}

function extraFolders(env: NodeJS.ProcessEnv, cwd: string, home: string): string[] {
  const given = env['PI_SUBAGENT_EXTRA_AGENT_DIRS'] ?? '';
  return given
    .split(delimiter)
    .filter((path) => path.trim() !== '')
    .map((path) => absolute(path.trim(), cwd, home));
}

/** Where the agents of a project are looked for. */
import { realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type AgentSettings, readAgentSettings } from './agent-settings.ts';

export interface ProjectRoot {
  path: string;
  settings: AgentSettings;
}

/**
 * The nearest ancestor with `.pi` or `.agents`; the root of the git worktree where its settings say so and those of the nearest
 * do not object; where there is none of all these, the folder itself. The home folder is no project, nor is anything above it:
 * `undefined`.
 */
export async function findProjectRoot(cwd: string, home: string): Promise<ProjectRoot | undefined> {
  const realHome = await real(home);
  const candidates: string[] = [];
  for (const folder of upward(cwd)) {
    if ((await real(folder)) === realHome) break;
    candidates.push(folder);
  }
  const [own] = candidates;
  if (own === undefined) return undefined;
  const nearest = await rootAt(await first(candidates, hasResources), home);
  if (nearest?.settings.projectRootResolution !== 'nearest') {
    const git = await rootAt(await first(candidates, (folder) => exists(join(folder, '.git'))), home);
    if (git?.settings.projectRootResolution === 'git-root') return git;
  }
  return nearest ?? rootAt(own, home);
}

/** The same, where somebody has marked it with `.pi` or `.agents`: only there are settings and agents made for it. */
export async function findMarkedRoot(cwd: string, home: string): Promise<ProjectRoot | undefined> {
  const root = await findProjectRoot(cwd, home);
  return root && (await hasResources(root.path)) ? root : undefined;
}

async function rootAt(path: string | undefined, home: string): Promise<ProjectRoot | undefined> {
  if (path === undefined) return undefined;
  return { path, settings: await readAgentSettings(join(path, '.pi', 'settings.json'), path, home) };
}

function real(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

function* upward(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (dirname(at) === at) return;
  }
}

async function first(
  folders: readonly string[],
  fits: (folder: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const folder of folders) if (await fits(folder)) return folder;
  return undefined;
}

async function hasResources(folder: string): Promise<boolean> {
  return (await isFolder(join(folder, '.pi'))) || (await isFolder(join(folder, '.agents')));
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

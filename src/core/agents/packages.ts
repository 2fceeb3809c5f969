/**
 * Packages of Pi that bring agents: their `package.json` names folders under `pi-subagents.agents` or `pi.subagents.agents`. And
 * those that bring skills: under `pi.skills`, or in `skills`.
 * Nothing is started to find them: npm is not asked where it installs to, that follows from where it lies.
 */
import { readdir, realpath } from 'node:fs/promises';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import * as z from 'zod/mini';
import { readRegular } from '../files/index.ts';
import { type AgentSettings, absolute, readAgentSettings } from './agent-settings.ts';

export interface AgentPackage {
  name: string;
  version?: string;
  /** Absolute folders with agents. */
  directories: string[];
}

const paths = z.union([z.string(), z.array(z.string())]);
const manifest = z.looseObject({
  name: z.optional(z.string()),
  version: z.optional(z.string()),
  'pi-subagents': z.optional(z.looseObject({ agents: z.optional(paths) })),
  pi: z.optional(
    z.looseObject({
      subagents: z.optional(z.looseObject({ agents: z.optional(paths) })),
      skills: z.optional(z.array(z.string())),
    }),
  ),
});

export interface PackagePlaces {
  /** Folder whose `npm` and `git` hold what Pi has installed. */
  installs: string;
  settings: AgentSettings;
  home: string;
}

/** The first that brings an agent wins. */
export async function installedPackages(places: PackagePlaces): Promise<AgentPackage[]> {
  return readPackages(await installedFolders(places));
}

async function installedFolders({ installs, settings, home }: PackagePlaces): Promise<string[]> {
  const npm = join(installs, 'npm', 'node_modules');
  const base = dirname(settings.file);
  const named = settings.packages.map((source) => packageFolder(source, installs, base, home));
  return [...(await packagesIn(npm)), ...named];
}

/**
 * Skills, and folders of skills, of the packages that Pi has installed for the user or for a project, absolute. What settings say of
 * a package's skills is not looked at: that is about what Pi shows without being asked.
 *
 * @param file the settings that name packages; @param installs folder whose `npm` and `git` hold them
 */
export async function packageSkills(file: string, installs: string, home: string): Promise<string[]> {
  const settings = await readAgentSettings(file, installs, home);
  const folders = [...new Set(await installedFolders({ installs, settings, home }))];
  const skills = await Promise.all(
    folders.map(async (folder) => {
      const named = (await readManifest(folder))?.pi?.skills ?? [];
      // A pattern or an exclusion is none of the folders.
      const plain = named.filter((path) => !/^[!+-]|[*?]/.test(path));
      return [...plain, 'skills'].map((path) => resolve(folder, path));
    }),
  );
  return skills.flat();
}

/** Of all users of this machine. */
export async function globalPackages(env: NodeJS.ProcessEnv): Promise<AgentPackage[]> {
  if (env['PI_OFFLINE']) return [];
  const root = await globalRoot(env);
  return root === undefined ? [] : readPackages(await packagesIn(root));
}

export async function readPackages(folders: readonly string[]): Promise<AgentPackage[]> {
  const found = await Promise.all([...new Set(folders)].map(readPackage));
  return found.filter((one) => one !== undefined);
}

/** `undefined`: none, one that cannot be read, or one without agents. Pi itself says what is wrong with a package. */
async function readPackage(folder: string): Promise<AgentPackage | undefined> {
  const parsed = await readManifest(folder);
  if (!parsed) return undefined;
  const { name = folder, version, 'pi-subagents': own, pi } = parsed;
  const given = [own?.agents, pi?.subagents?.agents].flatMap((value) => value ?? []);
  if (given.length === 0) return undefined;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    directories: [...new Set(given.map((path) => resolve(folder, path)))],
  };
}

async function readManifest(folder: string): Promise<z.infer<typeof manifest> | undefined> {
  const text = await readRegular(join(folder, 'package.json')).catch(() => undefined);
  return text === undefined ? undefined : manifest.safeParse(json(text)).data;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function packagesIn(modules: string): Promise<string[]> {
  const names = await readdir(modules).catch(() => []);
  const folders = await Promise.all(
    names.sort().map(async (name) => {
      if (name.startsWith('.')) return [];
      if (!name.startsWith('@')) return [join(modules, name)];
      const scoped = await readdir(join(modules, name)).catch(() => []);
      return scoped.sort().map((one) => join(modules, name, one));
    }),
  );
  return folders.flat();
}

/** Where Pi has put a package of its settings. */
function packageFolder(source: string, installs: string, base: string, home: string): string {
  if (source.startsWith('npm:')) {
    const name = /^npm:(@?[^@]+)/.exec(source)?.[1] ?? '';
    return join(installs, 'npm', 'node_modules', name);
  }
  const git =
    /^(?:git:)?(?:https?:\/\/|ssh:\/\/|git:\/\/)?(?:[^@/]+@)?([\w.-]+\.[a-z]+)[/:](.+?)(?:\.git)?(?:@[^@/]*)?$/i.exec(
      source,
    );
  if (git?.[1] && git[2] && /^git[:@]|:\/\//.test(source) && !source.startsWith('file:'))
    return join(installs, 'git', git[1], git[2]);
  return absolute(source.replace(/^file:(?:\/\/(?=\/))?/, ''), base, home);
}

async function globalRoot(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const prefix = env['NPM_CONFIG_PREFIX'] ?? env['npm_config_prefix'];
  if (prefix) return process.platform === 'win32' ? join(prefix, 'node_modules') : join(prefix, 'lib', 'node_modules');
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const npm = await realpath(join(folder, 'npm')).catch(() => undefined);
    const end = npm?.lastIndexOf(`${sep}node_modules${sep}npm${sep}`) ?? -1;
    if (npm !== undefined && end >= 0) return npm.slice(0, end + `${sep}node_modules`.length);
  }
  return undefined;
}

/**
 * Packages of Pi that bring agents: their `package.json` names folders under `pi-subagents.agents` or `pi.subagents.agents`.
 * Nothing is started to find them: npm is not asked where it installs to, that follows from where it lies.
 */
import { readdir, realpath } from 'node:fs/promises';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import * as z from 'zod/mini';
import { readRegular } from '../files/index.ts';
import { type AgentSettings, absolute } from './agent-settings.ts';

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
  pi: z.optional(z.looseObject({ subagents: z.optional(z.looseObject({ agents: z.optional(paths) })) })),
});

export interface PackagePlaces {
  /** Folder whose `npm` and `git` hold what Pi has installed. */
  installs: string;
  settings: AgentSettings;
  home: string;
}

/** The first that brings an agent wins. */
export async function installedPackages({ installs, settings, home }: PackagePlaces): Promise<AgentPackage[]> {
  const npm = join(installs, 'npm', 'node_modules');
  const base = dirname(settings.file);
  const named = settings.packages.map((source) => packageFolder(source, installs, base, home));
  return readPackages([...(await packagesIn(npm)), ...named]);
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
  const text = await readRegular(join(folder, 'package.json')).catch(() => undefined);
  if (text === undefined) return undefined;
  const parsed = manifest.safeParse(json(text));
  if (!parsed.success) return undefined;
  const { name = folder, version, 'pi-subagents': own, pi } = parsed.data;
  const given = [own?.agents, pi?.subagents?.agents].flatMap((value) => value ?? []);
  if (given.length === 0) return undefined;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    directories: [...new Set(given.map((path) => resolve(folder, path)))],
  };
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

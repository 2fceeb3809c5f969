/**
 * The Markdown files below a folder of agents. Links are followed, each real folder once; folders that belong to something else
 * (a repository, a project, packages, Pi's own) are left out.
 */
import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, relative, sep } from 'node:path';
import { wordsOf } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';

export type DirectoryState = 'absent' | 'empty' | 'candidates' | 'unreadable' | 'not-a-directory';

export interface Candidate {
  /** Absolute, by the way it was reached. */
  path: string;
  stats: Stats;
}

export interface Walked {
  state: DirectoryState;
  /** In the order of their paths. */
  candidates: Candidate[];
  /** Folders that could not be read, with why. */
  unreadable: { path: string; reason: string }[];
  /** There are more files than are looked at. */
  isCut: boolean;
}

/** Files of one folder of agents. */
export const MAX_CANDIDATES = 5000;

const PRUNED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.pi', 'sync-backups']);

export async function walk(root: string): Promise<Walked> {
  const walker = new Walker(basename(root) === '.agents');
  const state = await walker.enter(root, true);
  const candidates = walker.candidates.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    state: state === 'read' ? (candidates.length > 0 ? 'candidates' : 'empty') : state,
    candidates: candidates.slice(0, MAX_CANDIDATES),
    unreadable: walker.unreadable,
    isCut: candidates.length > MAX_CANDIDATES,
  };
}

/** Whether a walk of `root` comes by this path, as far as its names tell. */
export function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return false;
  const names = inside.split(sep);
  const file = names.pop() ?? '';
  const isSkill = basename(root) === '.agents' && names.includes('skills');
  return isDefinition(file) && !isSkill && !names.some((name) => PRUNED.has(name));
}

class Walker {
  readonly candidates: Candidate[] = [];
  readonly unreadable: { path: string; reason: string }[] = [];
  readonly #seen = new Set<string>();
  /** Skills below `.agents` are no agents. */
  readonly #skipsSkills: boolean;

  constructor(skipsSkills: boolean) {
    this.#skipsSkills = skipsSkills;
  }

  async enter(folder: string, isRoot = false): Promise<'read' | Exclude<DirectoryState, 'empty' | 'candidates'>> {
    let entries: Dirent[];
    try {
      const real = await realpath(folder);
      if (this.#seen.has(real)) return 'read';
      this.#seen.add(real);
      entries = await readdir(folder, { withFileTypes: true });
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOTDIR') return 'not-a-directory';
      if (errno === 'ENOENT' || errno === 'ELOOP') return 'absent';
      this.unreadable.push({ path: folder, reason: wordsOf(error) });
      return 'unreadable';
    }
    if (!isRoot && entries.some(({ name }) => name === '.git' || name === '.pi' || name === '.agents')) return 'read';
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const files: string[] = [];
    for (const entry of entries) {
      if (this.candidates.length + files.length > MAX_CANDIDATES) break;
      const path = `${folder}${folder.endsWith(sep) ? '' : sep}${entry.name}`;
      if (entry.isDirectory() || (entry.isSymbolicLink() && (await isFolder(path))))
        await this.#enterBelow(path, entry.name);
      else if (isDefinition(entry.name)) files.push(path);
    }
    await this.#add(files);
    return 'read';
  }

  async #enterBelow(path: string, name: string): Promise<void> {
    if (PRUNED.has(name) || (this.#skipsSkills && name === 'skills')) return;
    await this.enter(path);
  }

  async #add(files: readonly string[]): Promise<void> {
    await Promise.all(
      files.map(async (path) => {
        try {
          this.candidates.push({ path, stats: await stat(path) });
        } catch (error) {
          // A link that leads nowhere or round in circles, or a file that has gone, is no definition.
          if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return;
          this.unreadable.push({ path, reason: wordsOf(error) });
        }
      }),
    );
  }
}

function isDefinition(name: string): boolean {
  return name.endsWith('.md') && !name.endsWith('.chain.md');
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

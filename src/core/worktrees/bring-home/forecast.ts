/** What would come of bringing the work of a lane into a checkout. Nothing in the checkout is changed, nor its index. */
import { randomUUID } from 'node:crypto';
import { copyFile, lstat, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../../git/index.ts';
import { LONG_MS } from '../snapshot.ts';
import { inFolder, keyOf, textOfPath, walkFiles } from '../walk.ts';
import { type Change, changesBetween, mergeLines, parentsOf } from './changes.ts';
import { type ConflictReason, type Meeting, meet, type Side } from './sides.ts';

export interface ForecastFile {
  path: string;
  /** The bytes of a path that is not UTF-8, in Base64. */
  raw?: string;
  /** What the lane has done to it. */
  change: 'added' | 'modified' | 'deleted';
  /** `take`: as the lane has it; `merge`: with what was changed here; `same`: it is so already. */
  outcome: 'take' | 'merge' | 'same' | 'conflict';
  reason?: ConflictReason;
}

/** What is to stand at a path: nothing, or what lies in a file of the scratch folder. */
export interface Outcome extends ForecastFile {
  bytesOfPath: Buffer;
  /** A file or link as it is to be; null: nothing. Only of `take` and `merge`. */
  body?: { at: Buffer; mode: string } | null;
}

export interface ForecastRequest {
  /** Top folder of the checkout. */
  root: string;
  base: string;
  tree: string;
  /** Files, or folders with all below, relative to the root; absent: all. */
  files?: readonly string[] | undefined;
  /** An empty folder for what is looked at and written meanwhile. */
  scratch: string;
  signal?: AbortSignal | undefined;
}

/** The files that are meant, in the order of git, and names that mean none. */
export async function forecast(
  git: Git,
  { root, base, tree, files, scratch, signal }: ForecastRequest,
): Promise<{ outcomes: Outcome[]; unknown: string[] }> {
  const all = await changesBetween(git, root, base, tree);
  const { chosen, unknown } = choose(all, files);
  const here = await lookAt(root, chosen);
  const call = { signal, timeoutMs: LONG_MS };
  const ours = await hashFiles(
    git,
    root,
    [...here].filter(([, what]) => what === 'file').map(([key]) => key),
    scratch,
    call,
  );
  const bare = (await git.lineIfAny(root, ['config', '--bool', 'core.fileMode'])) === 'false';
  const met = new Map<string, Meeting>();
  for (const [key, change] of chosen) {
    const own = ours.get(key);
    // Where the system knows no modes, a file has the one that git remembers.
    const side = own && bare && change.base ? { hash: own.hash, mode: change.base.mode } : own;
    met.set(key, meet(change.base, side, change.theirs));
  }
  await findInTheWay(root, chosen, here, met);
  const trees = await checkOut(git, { root, tree, base }, met, scratch, call);
  const outcomes: Outcome[] = [];
  for (const [key, change] of chosen) {
    outcomes.push(await outcomeOf(git, root, change, met.get(key) ?? { kind: 'leave' }, trees, scratch));
  }
  return { outcomes, unknown };
}

function choose(
  all: ReadonlyMap<string, Change>,
  files: readonly string[] | undefined,
): { chosen: Map<string, Change>; unknown: string[] } {
  if (!files) return { chosen: new Map(all), unknown: [] };
  const wanted = files.map((file) => ({
    file,
    key: keyOf(Buffer.from(file.replaceAll('\\', '/').replace(/^\.\/|\/+$/g, ''))),
  }));
  const means = (name: string, key: string) => key === name || key.startsWith(`${name}/`);
  return {
    chosen: new Map([...all].filter(([key]) => wanted.some((one) => means(one.key, key)))),
    unknown: wanted.filter((one) => ![...all.keys()].some((key) => means(one.key, key))).map(({ file }) => file),
  };
}

type What = 'file' | 'folder' | 'nothing' | 'other' | { under: string };

/** What lies at each path. `under`: a parent that is no folder. */
async function lookAt(root: string, chosen: ReadonlyMap<string, Change>): Promise<Map<string, What>> {
  const found = new Map<string, What>();
  const parents = new Map<string, boolean>();
  const isFolder = async (key: string) => {
    const known = parents.get(key) ?? (await kindOf(inFolder(root, Buffer.from(key, 'latin1'))));
    const is = typeof known === 'boolean' ? known : known === 'folder' || known === 'nothing';
    parents.set(key, is);
    return is;
  };
  for (const [key, { path }] of chosen) {
    let what: What | undefined;
    for (const parent of parentsOf(key).reverse()) {
      if (await isFolder(parent)) continue;
      what = { under: parent };
      break;
    }
    found.set(key, what ?? (await kindOf(inFolder(root, path))));
  }
  return found;
}

async function kindOf(path: Buffer): Promise<'file' | 'folder' | 'nothing' | 'other'> {
  const info = await lstat(path).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!info) return 'nothing';
  if (info.isFile() || info.isSymbolicLink()) return 'file';
  return info.isDirectory() ? 'folder' : 'other';
}

type Call = { signal: AbortSignal | undefined; timeoutMs: number };

/** As git would take them, in an index of our own. */
async function hashFiles(
  git: Git,
  root: string,
  keys: readonly string[],
  scratch: string,
  call: Call,
): Promise<Map<string, Side>> {
  const sides = new Map<string, Side>();
  if (keys.length === 0) return sides;
  const own = { ...call, env: { GIT_INDEX_FILE: join(scratch, 'ours') } };
  await git.run(root, ['read-tree', '--empty'], own);
  const input = Buffer.concat(keys.flatMap((key) => [Buffer.from(key, 'latin1'), NUL]));
  await git.run(root, ['update-index', '-z', '--add', '--stdin'], { ...own, input });
  for (const line of await git.records(root, ['ls-files', '-z', '--stage'], own)) {
    const tab = line.indexOf(0x09);
    const [mode = '', hash = ''] = line.subarray(0, tab).toString().split(' ');
    sides.set(keyOf(line.subarray(tab + 1)), { mode, hash });
  }
  return sides;
}

const NUL = Buffer.from([0]);

/** A folder where a file is to come, or a file where a folder is to come, is only in the way when it does not go itself. */
async function findInTheWay(
  root: string,
  chosen: ReadonlyMap<string, Change>,
  here: ReadonlyMap<string, What>,
  met: Map<string, Meeting>,
): Promise<void> {
  const goes = (key: string) => {
    const meeting = met.get(key);
    return meeting?.kind === 'take' && meeting.side === undefined;
  };
  for (const [key, { path }] of chosen) {
    const what = here.get(key);
    const meeting = met.get(key);
    if (what === 'file' || what === 'nothing' || meeting?.kind === 'same' || meeting?.kind === 'leave') continue;
    let isFree = false;
    if (typeof what === 'object') isFree = goes(what.under);
    else if (what === 'folder') {
      const walk = await walkFiles(inFolder(root, path).toString()).catch(() => undefined);
      isFree = walk?.repositories.length === 0 && walk.leaves.every((leaf) => goes(`${key}/${keyOf(leaf.path)}`));
    }
    if (!isFree) met.set(key, { kind: 'conflict', reason: 'in-the-way' });
  }
}

/** Files of both trees as git writes them into this checkout: with its line ends and filters. */
async function checkOut(
  git: Git,
  { root, tree, base }: { root: string; tree: string; base: string },
  met: ReadonlyMap<string, Meeting>,
  scratch: string,
  call: Call,
): Promise<{ theirs: string; base: string }> {
  const folders = { theirs: join(scratch, 'theirs'), base: join(scratch, 'base') };
  const needed = {
    theirs: [...met].filter(([, one]) => one.kind === 'lines' || (one.kind === 'take' && one.side !== undefined)),
    base: [...met].filter(([, one]) => one.kind === 'lines'),
  };
  for (const name of ['theirs', 'base'] as const) {
    await mkdir(folders[name], { mode: 0o700 });
    if (needed[name].length === 0) continue;
    const own = { ...call, env: { GIT_INDEX_FILE: join(scratch, `${name} index`) } };
    await git.run(root, ['read-tree', name === 'theirs' ? tree : base], own);
    const input = Buffer.concat(needed[name].flatMap(([key]) => [Buffer.from(key, 'latin1'), NUL]));
    await git.run(root, ['checkout-index', '-z', '--stdin', '--quiet', `--prefix=${folders[name]}/`], {
      ...own,
      input,
    });
  }
  return folders;
}

async function outcomeOf(
  git: Git,
  root: string,
  { path, base, theirs }: Change,
  meeting: Meeting,
  trees: { theirs: string; base: string },
  scratch: string,
): Promise<Outcome> {
  const change = !base ? 'added' : theirs ? 'modified' : 'deleted';
  const own = { ...textOfPath(path), bytesOfPath: path, change } as const;
  if (meeting.kind === 'same' || meeting.kind === 'leave') return { ...own, outcome: 'same' };
  if (meeting.kind === 'conflict') return { ...own, outcome: 'conflict', reason: meeting.reason };
  const at = inFolder(trees.theirs, path);
  if (meeting.kind === 'take') {
    if (!meeting.side) return { ...own, outcome: 'take', body: null };
    const { mode, hash } = meeting.side;
    // Only the mode comes where what was changed here stays.
    const from = theirs?.hash === hash ? at : inFolder(root, path);
    return { ...own, outcome: 'take', body: { at: from, mode } };
  }
  const names = { ours: inFolder(root, path), base: inFolder(trees.base, path), theirs: at };
  const files = await plainNames(names, scratch);
  const merged = await mergeLines(git, files);
  if (merged === undefined) return { ...own, outcome: 'conflict', reason: 'lines' };
  const to = join(scratch, `merged ${randomUUID()}`);
  await writeFile(to, merged, { mode: 0o600 });
  return { ...own, outcome: 'merge', body: { at: Buffer.from(to), mode: meeting.mode } };
}

/** Git is given names as text, which not every path is: the three lie under plain ones. */
async function plainNames(
  names: { ours: Buffer; base: Buffer; theirs: Buffer },
  scratch: string,
): Promise<{ ours: string; base: string; theirs: string }> {
  const plain = { ours: '', base: '', theirs: '' };
  for (const side of ['ours', 'base', 'theirs'] as const) {
    plain[side] = join(scratch, `lines ${side}`);
    await copyFile(names[side], plain[side]);
  }
  return plain;
}

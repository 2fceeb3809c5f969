/** The difference of two trees as a file, and the proof that it is one. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeCapture } from '../../protocol/index.ts';
import type { Git } from '../git/index.ts';
import { LONG_MS } from './snapshot.ts';

/** Whatever the person has configured: bytes of binary files, whole hashes, prefixes that `git apply` takes away. */
const DIFF = [
  'diff-tree',
  '-r',
  '-M',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--submodule=short',
  '--ignore-submodules=none',
];
const PATCH = ['--patch', '--binary', '--full-index', '-U3', '--src-prefix=a/', '--dst-prefix=b/'];

/** Writes the patch that makes `tree` of `base`. `path` in the answer is `name`. */
export async function writePatch(
  git: Git,
  folder: string,
  { base, tree, directory, name }: { base: string; tree: string; directory: string; name: string },
  signal?: AbortSignal,
): Promise<NonNullable<WorktreeCapture['patch']>> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(join(directory, name), 'wx', 0o600);
  try {
    const sink = async (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
      await file.writeFile(chunk);
    };
    await git.run(folder, [...DIFF, ...PATCH, base, tree], { sink, signal, timeoutMs: LONG_MS, retry: false });
    await file.sync();
  } finally {
    await file.close();
  }
  const stat = await git.line(folder, [...DIFF, '--shortstat', base, tree], { signal, timeoutMs: LONG_MS });
  const count = (what: RegExp) => Number(what.exec(stat)?.[1] ?? 0);
  return {
    path: name,
    bytes,
    digest: hash.digest('hex'),
    files: count(/(\d+) files? changed/),
    insertions: count(/(\d+) insertions?\(\+\)/),
    deletions: count(/(\d+) deletions?\(-\)/),
  };
}

/** Applies the patch to the base and compares trees. */
export async function patchGives(
  git: Git,
  folder: string,
  { base, tree, patch, scratch }: { base: string; tree: string; patch: string; scratch: string },
  signal?: AbortSignal,
): Promise<boolean> {
  const call = { env: { GIT_INDEX_FILE: join(scratch, 'proof') }, signal, timeoutMs: LONG_MS };
  await git.run(folder, ['read-tree', base], call);
  const applied = await git.run(folder, ['apply', '--cached', '--whitespace=nowarn', patch], {
    ...call,
    accept: 'any',
  });
  return applied.exitCode === 0 && (await git.line(folder, ['write-tree'], call)) === tree;
}

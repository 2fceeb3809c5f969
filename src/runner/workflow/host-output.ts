/** Where the output of a host command is kept, and proof that it really lies there. */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { errnoOf, makeFolders, makePrivateFolder, whenThereIsRoom, writeFileAtomic } from '../../core/files/index.ts';
import { LanesError, lanesError, wordsOf } from '../../protocol/index.ts';

export interface HostOutput {
  /** Absolute. */
  path: string;
  /** The folder it must not leave; null: the run's own. */
  inside: string | null;
}

/** @param output as the script names it, relative to the folder of the workflow; absent: a file of the run's own */
export async function hostOutput(
  output: string | undefined,
  { cwd, artifacts, key }: { cwd: string; artifacts: string; key: string },
): Promise<HostOutput> {
  if (output === undefined) return { path: join(artifacts, 'outputs', 'host', `${key}.log`), inside: null };
  const inside = await realpath(cwd);
  const target = { path: resolve(inside, output), inside };
  await verify(target);
  return target;
}

/**
 * Replaces the file in one step, as soon as there is room for it: a command that has succeeded has not failed because a disk is full.
 * Throws `output_unusable` when the path has come to lead somewhere else.
 */
export async function writeHostOutput(target: HostOutput, text: string): Promise<void> {
  try {
    await whenThereIsRoom(() => replace(target, text));
  } catch (error) {
    throw error instanceof LanesError ? error : unusable(target.path, wordsOf(error));
  }
}

async function replace(target: HostOutput, text: string): Promise<void> {
  const { path, inside } = target;
  if (inside === null) await makePrivateFolder(dirname(path));
  else {
    await verify(target);
    await makeFolders(dirname(path));
    await verify(target);
  }
  await writeFileAtomic(path, text, { mode: 0o600 });
}

/** No part of the path below the folder may be a link, and what stands at its end must be a file of one name. */
async function verify({ path, inside }: HostOutput): Promise<void> {
  if (inside === null) return;
  const parts = relative(inside, path).split(sep);
  if (parts[0] === '..') throw unusable(path, 'it leaves the folder of the workflow');
  if (parts[0] === '') throw unusable(path, 'it is not a file');
  let at = inside;
  for (const [index, part] of parts.entries()) {
    at = join(at, part);
    const info = await lstat(at).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw unusable(path, wordsOf(error));
    });
    if (!info) return;
    const isLast = index === parts.length - 1;
    if (info.isSymbolicLink()) throw unusable(path, `${at} is a link`);
    if (!isLast && !info.isDirectory()) throw unusable(path, `${at} is not a folder`);
    if (isLast && !info.isFile()) throw unusable(path, 'it is not a file');
    if (isLast && info.nlink > 1) throw unusable(path, 'the file has several names (hard links)');
  }
}

function unusable(file: string, reason: string) {
  return lanesError('output_unusable', { file, reason });
}

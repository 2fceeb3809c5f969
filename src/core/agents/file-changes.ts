/**
 * Changes of files that people keep: made only while a file is what it was when the change was thought up, each as a whole, all
 * of them or none. Whoever has the list can take it back in the same way.
 */
import { lstat, open, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type LanesError, lanesError, wordsOf } from '../../protocol/index.ts';
import { discard, errnoOf, makeFolders, syncFolder, writeFileAtomic } from '../files/index.ts';

export type FileState =
  | { kind: 'absent' }
  | { kind: 'file'; bytes: Buffer; mode: number }
  | { kind: 'link'; target: string };

export interface FileChange {
  /** Absolute. */
  file: string;
  before: FileState;
  after: FileState;
}

export const ABSENT: FileState = { kind: 'absent' };
const DEFAULT_MODE = 0o666;

export function fileState(text: string | Buffer, like: FileState = ABSENT): FileState {
  return { kind: 'file', bytes: Buffer.from(text), mode: like.kind === 'file' ? like.mode : DEFAULT_MODE };
}

/** What stands at a path; a link is not followed. Throws `agent_not_editable` for what is neither file nor link. */
export async function readState(file: string): Promise<FileState> {
  try {
    const info = await lstat(file);
    if (info.isSymbolicLink()) return { kind: 'link', target: await readlink(file) };
    if (!info.isFile()) throw lanesError('agent_not_editable:no-file', { file });
    return { kind: 'file', bytes: await readFile(file), mode: info.mode & 0o7777 };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return ABSENT;
    throw explained(file, error);
  }
}

/** @throws LanesError `agent_changed` when a file is not what it was, `agent_not_editable` when it may not be written */
export async function applyChanges(changes: readonly FileChange[]): Promise<void> {
  for (const change of changes) await checkChange(change);
  const done: FileChange[] = [];
  try {
    for (const change of changes) {
      await checkChange(change);
      await put(change);
      done.push(change);
    }
  } catch (error) {
    for (const change of inverse(done)) await put(change);
    throw error;
  }
}

/** What takes the changes back. */
export function inverse(changes: readonly FileChange[]): FileChange[] {
  return changes.toReversed().map(({ file, before, after }) => ({ file, before: after, after: before }));
}

async function checkChange({ file, before }: FileChange): Promise<void> {
  const now = await readState(file);
  if (!isSame(now, before)) throw lanesError('agent_changed', { file });
  // To replace a file nobody needs the right to write it, so it is asked for here.
  if (now.kind === 'file' && (now.mode & 0o200) === 0) throw lanesError('agent_not_editable:read-only', { file });
}

function isSame(a: FileState, b: FileState): boolean {
  if (a.kind === 'file' && b.kind === 'file') return a.bytes.equals(b.bytes);
  if (a.kind === 'link' && b.kind === 'link') return a.target === b.target;
  return a.kind === 'absent' && b.kind === 'absent';
}

async function put({ file, before, after }: FileChange): Promise<void> {
  try {
    if (after.kind === 'absent') {
      await rm(file);
      await syncFolder(dirname(file));
      return;
    }
    await makeFolders(dirname(file));
    if (after.kind === 'link') await symlink(after.target, file);
    else if (before.kind === 'absent') await create(file, after);
    else await writeFileAtomic(file, after.bytes, { mode: after.mode });
  } catch (error) {
    throw explained(file, error);
  }
}

/** Somebody else may make the same file at the same moment. */
async function create(file: string, { bytes, mode }: Extract<FileState, { kind: 'file' }>): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    await discard(file);
    throw error;
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(file));
}

function explained(file: string, error: unknown): LanesError | unknown {
  const code = errnoOf(error) ?? '';
  if (code === 'EEXIST') return lanesError('agent_changed', { file }, { cause: error });
  if (['EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENOTDIR', 'ENOSPC', 'EDQUOT'].includes(code))
    return lanesError('agent_not_editable:disk', { file, reason: wordsOf(error) }, { cause: error });
  return error;
}

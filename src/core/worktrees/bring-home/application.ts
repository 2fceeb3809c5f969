/**
 * Writing the work of a lane into a checkout as a whole: everything that is to be and everything that was lies durably beside it before
 * the first file is touched. Whoever dies on the way leaves an intent, and the next one goes back; nothing stays half done.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type FileBody,
  lanesError,
  type WorkApplication,
  type WorktreeUser,
  wordsOf,
  workApplication,
} from '../../../protocol/index.ts';
import { errnoOf, makePrivateFolder, readRegular, syncFolder, writeFileAtomic } from '../../files/index.ts';
import { inFolder, keyOf } from '../walk.ts';
import { parentsOf } from './changes.ts';
import { besideOf, describeBody, isAt, keepBody, place, removeEmpty } from './file-body.ts';
import type { Outcome } from './forecast.ts';

/** Told before each step that changes something, by what it is called; who rejects or never returns ends it there. */
export type AtStep = (step: string) => void | Promise<void>;

/** Applications that stay to be taken back, for each checkout. */
const KEPT = 20;

/**
 * Prepares and writes outcomes without a conflict. Throws `apply_refused:changed` when a file has changed since it was looked at; then
 * nothing is as it was not before.
 * @param folder of all applications of the project
 */
export async function writeApplication(
  folder: string,
  root: string,
  source: WorktreeUser,
  outcomes: readonly Outcome[],
  { atStep = () => undefined, now = Date.now() }: { atStep?: AtStep; now?: number } = {},
): Promise<WorkApplication> {
  const wanted = outcomes.filter(({ body }) => body !== undefined);
  const id = randomUUID();
  const own = join(folder, id);
  await makePrivateFolder(folder);
  await mkdir(own, { mode: 0o700 });
  let application: WorkApplication;
  try {
    const files = await prepare(own, root, wanted);
    const folders = await missingFolders(root, wanted);
    application = { version: 1, id, root, source, createdAt: now, state: 'writing', files, folders };
    await syncFolder(own);
    await atStep('intent');
    await save(folder, application);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    throw error;
  }
  try {
    for (const [at, file] of application.files.entries()) {
      await atStep(`file ${at + 1}`);
      const path = inFolder(root, Buffer.from(file.path, 'base64'));
      if (!(await isAt(path, file.before))) throw lanesError('apply_refused:changed', { files: textOf(file.path) });
      await move(own, root, file.path, file.after);
    }
    await atStep('fact');
    const applied: WorkApplication = { ...application, state: 'applied' };
    await save(folder, applied);
    await forgetOld(folder, root);
    return applied;
  } catch (error) {
    await goBack(folder, application);
    throw error;
  }
}

async function prepare(own: string, root: string, outcomes: readonly Outcome[]): Promise<WorkApplication['files']> {
  const files: WorkApplication['files'] = [];
  // What goes comes first: a folder may come where a file was.
  const order = [...outcomes].sort((a, b) => Number(b.body === null) - Number(a.body === null));
  for (const [at, { bytesOfPath, body }] of order.entries()) {
    const path = inFolder(root, bytesOfPath);
    const there = await describeBody(path);
    if (there === undefined && !order.some((other) => other.body === null && isBelow(other, bytesOfPath))) {
      throw lanesError('apply_refused:changed', { files: bytesOfPath.toString() });
    }
    const before = there ? await keep(own, path, `${at}.before`, there) : null;
    let after: FileBody | null = null;
    if (body) {
      const described = await describeBody(body.at);
      if (!described) throw lanesError('apply_refused:changed', { files: bytesOfPath.toString() });
      const mode = body.mode === '100755' ? 0o755 : 0o644;
      after = await keep(own, body.at, `${at}.after`, { ...described, mode: described.kind === 'link' ? 0 : mode });
    }
    files.push({ path: bytesOfPath.toString('base64'), before, after });
  }
  return files;
}

function isBelow({ bytesOfPath }: Outcome, folder: Buffer): boolean {
  return keyOf(bytesOfPath).startsWith(`${keyOf(folder)}/`);
}

async function keep(own: string, from: Buffer, body: string, described: Omit<FileBody, 'body'>): Promise<FileBody> {
  await keepBody(from, join(own, body), described);
  return { ...described, body };
}

/** Folders that are made on the way, the outermost first, in Base64. */
async function missingFolders(root: string, outcomes: readonly Outcome[]): Promise<string[]> {
  const missing = new Set<string>();
  for (const { bytesOfPath, body } of outcomes) {
    if (!body) continue;
    for (const parent of parentsOf(keyOf(bytesOfPath))) {
      const path = Buffer.from(parent, 'latin1');
      const info = await lstat(inFolder(root, path)).catch(() => undefined);
      if (!info?.isDirectory()) missing.add(parent);
    }
  }
  return [...missing].sort((a, b) => a.length - b.length).map((key) => Buffer.from(key, 'latin1').toString('base64'));
}

async function move(own: string, root: string, path: string, body: FileBody | null): Promise<void> {
  const full = inFolder(root, Buffer.from(path, 'base64'));
  await place(own, body, full);
  // Git knows no empty folders.
  if (!body) await removeEmpty(dirname(full.toString()), root);
}

/** Files of an application that are neither as they were nor as they were made, as text. */
async function changedIn(root: string, files: WorkApplication['files'], wanted: 'after' | 'either'): Promise<string[]> {
  const changed: string[] = [];
  for (const { path, before, after } of files) {
    const full = inFolder(root, Buffer.from(path, 'base64'));
    if (await isAt(full, after)) continue;
    if (wanted === 'either' && ((await isAt(full, before)) || isCovered(files, path))) continue;
    changed.push(textOf(path));
  }
  return changed;
}

/** Whether another of its files lies below the path, or the path below it: then one of them is not there. */
function isCovered(files: WorkApplication['files'], path: string): boolean {
  const key = keyOf(Buffer.from(path, 'base64'));
  return files.some((other) => {
    const one = keyOf(Buffer.from(other.path, 'base64'));
    return one.startsWith(`${key}/`) || key.startsWith(`${one}/`);
  });
}

function textOf(path: string): string {
  return Buffer.from(path, 'base64').toString();
}

/** Everything is as it was; what somebody has changed since stays, and is told by rejecting. */
async function goBack(folder: string, application: WorkApplication, atStep: AtStep = () => undefined): Promise<void> {
  const { id, root, files, folders } = application;
  const own = join(folder, id);
  const foreign = await changedIn(root, files, 'either');
  for (const [at, { path, before, after }] of [...files.entries()].reverse()) {
    const full = inFolder(root, Buffer.from(path, 'base64'));
    await rm(besideOf(own, full), { force: true }).catch(() => undefined);
    if (foreign.includes(textOf(path)) || (await isAt(full, before)) || !(await isAt(full, after))) continue;
    await atStep(`back ${at + 1}`);
    await place(own, before, full);
  }
  for (const name of [...folders].reverse()) {
    // One that somebody has put something into stays.
    const path = inFolder(root, Buffer.from(name, 'base64'));
    await rmdir(path).catch(() => undefined);
  }
  // A file that stood where a folder was made comes back last.
  for (const { path, before } of files) {
    const full = inFolder(root, Buffer.from(path, 'base64'));
    if (before && !foreign.includes(textOf(path)) && (await describeBody(full)) === null)
      await place(own, before, full);
  }
  await atStep('gone back');
  await save(folder, { ...application, state: 'undone' });
  if (foreign.length > 0) throw lanesError('apply_refused:left', { files: foreign.join(', ') });
}

/** Takes back an application: every file must be as it was made. Throws `apply_refused:undo` naming those that are not. */
export async function undoApplication(
  folder: string,
  application: WorkApplication,
  atStep?: AtStep,
): Promise<WorkApplication> {
  const changed = await changedIn(application.root, application.files, 'after');
  if (changed.length > 0) throw lanesError('apply_refused:undo', { files: changed.join(', ') });
  const undoing: WorkApplication = { ...application, state: 'undoing' };
  await save(folder, undoing);
  await goBack(folder, undoing, atStep);
  return { ...application, state: 'undone' };
}

/**
 * Puts a checkout in order after a death: what was being written is taken back, what was being taken back is. The caller holds the
 * checkout, so nobody carries it out any more.
 * @returns ids of what was taken back
 */
export async function settleApplications(folder: string, root: string): Promise<string[]> {
  const settled: string[] = [];
  for (const application of await listApplications(folder, root)) {
    if (application.state !== 'writing' && application.state !== 'undoing') continue;
    await goBack(folder, application);
    settled.push(application.id);
  }
  return settled;
}

/** Of one checkout, the newest first. Throws `apply_refused:unreadable` for one that cannot be read. */
export async function listApplications(folder: string, root: string): Promise<WorkApplication[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const found: WorkApplication[] = [];
  for (const id of names) {
    const path = join(folder, id, 'application.json');
    try {
      const application = workApplication.parse(JSON.parse(await readRegular(path)));
      if (application.root === root) found.push(application);
    } catch (error) {
      // Without its intent nothing of it was ever written.
      if (errnoOf(error) === 'ENOENT') continue;
      throw lanesError('apply_refused:unreadable', { path, reason: wordsOf(error) });
    }
  }
  return found.sort((a, b) => b.createdAt - a.createdAt);
}

function save(folder: string, application: WorkApplication): Promise<void> {
  return writeFileAtomic(join(folder, application.id, 'application.json'), `${JSON.stringify(application, null, 1)}\n`);
}

async function forgetOld(folder: string, root: string): Promise<void> {
  const over = (await listApplications(folder, root)).filter(({ state }) => state === 'applied' || state === 'undone');
  for (const { id } of over.slice(KEPT)) await rm(join(folder, id), { recursive: true, force: true });
}

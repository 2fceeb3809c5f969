/**
 * The bundle that runners execute is copied into `runtime/<content hash>/` before the first run that names it, so that an
 * update of the extension disturbs no running work.
 */

import { randomBytes } from 'node:crypto';
import { copyFile, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf, makePrivateFolder } from '../core/files/index.ts';
import { projectLayout, type RootLayout, runLayout } from '../core/projects/index.ts';
import { readFinalStatus, readLaunchRecord } from '../core/runs/index.ts';
import { LanesError, lanesError, wordsOf } from '../protocol/index.ts';

const runtimeManifest = z.object({ version: z.string(), hash: z.string(), files: z.array(z.string()) });

export interface Runtime {
  hash: string;
  /** The program a runner is started with. */
  runner: string;
}

/** Milliseconds a runtime is kept after its last use, whoever names it: a starter may be about to. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/** Copies the bundle if it is not there yet. Several processes may do it at once. */
export async function ensureRuntime(distDirectory: string, root: RootLayout): Promise<Runtime> {
  const manifest = runtimeManifest.parse(JSON.parse(await readFile(join(distDirectory, 'runtime.json'), 'utf8')));
  const target = join(root.runtime, manifest.hash);
  const runtime = { hash: manifest.hash, runner: join(target, 'runner.mjs') };
  const now = new Date();
  try {
    await utimes(target, now, now);
    await repair(distDirectory, target, manifest.files);
    return runtime;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  // A name of its own for every call: several may be under way in one process too.
  const staging = join(root.runtime, `.${manifest.hash}.${process.pid}.${randomBytes(4).toString('hex')}`);
  try {
    await makePrivateFolder(staging);
    for (const file of manifest.files) await copyFile(join(distDirectory, file), join(staging, file));
    await rename(staging, target);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Somebody else was first: that copy has the same content.
    if (!(await stat(target).catch(() => undefined))?.isDirectory()) {
      throw lanesError('internal:runtime', { folder: target, reason: wordsOf(error) });
    }
  }
  await removeUnusedRuntimes(root, manifest.hash);
  return runtime;
}

/** A copy that was damaged or emptied is made good file by file; a sound one is left alone. */
async function repair(distDirectory: string, target: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const wanted = (await stat(join(distDirectory, file))).size;
    const found = await stat(join(target, file)).catch(() => undefined);
    if (found?.size === wanted) continue;
    const temp = join(target, `.${file}.${randomBytes(4).toString('hex')}`);
    await copyFile(join(distDirectory, file), temp);
    await rename(temp, join(target, file));
  }
}

/** Removes runtimes that no unfinished run names and nobody used for a day, and copies that were never finished. */
async function removeUnusedRuntimes(root: RootLayout, current: string): Promise<void> {
  const names = (await readdir(root.runtime)).filter((name) => name !== current);
  if (names.length === 0) return;
  const needed = await runtimesOfUnfinishedRuns(root);
  // What cannot be read may need any of them.
  if (needed === 'unknown') return;
  for (const name of names) {
    const path = join(root.runtime, name);
    const info = await stat(path).catch(() => undefined);
    if (info && !needed.has(name) && Date.now() - info.mtimeMs > KEEP_MS)
      await rm(path, { recursive: true, force: true });
  }
}

async function runtimesOfUnfinishedRuns(root: RootLayout): Promise<Set<string> | 'unknown'> {
  const needed = new Set<string>();
  try {
    for (const project of await namesIn(root.projects)) {
      const layout = projectLayout(join(root.projects, project));
      for (const runId of await namesIn(layout.active)) {
        const { directory } = runLayout(join(layout.runs, runId));
        if (await readFinalStatus(directory)) continue;
        const record = await readLaunchRecord(directory).catch((error: unknown) => {
          if (error instanceof LanesError && error.code === 'run_not_found') return undefined;
          throw error;
        });
        if (record) needed.add(record.runtime);
      }
    }
    return needed;
  } catch {
    return 'unknown';
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    // A stray file among the folders is no project.
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  });
}

/**
 * The bundle that runners execute is copied into `runtime/<content hash>/` before the first run that names it, so that an
 * update of the extension disturbs no running work.
 */

import { randomBytes } from 'node:crypto';
import { access, constants, copyFile, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { discard, errnoOf, explainDisk, makePrivateFolder } from '../core/files/index.ts';
import type { RootLayout } from '../core/projects/index.ts';
import { findUnusedRuntimes } from '../core/retention/index.ts';
import { LanesError, lanesError, wordsOf } from '../protocol/index.ts';

const runtimeManifest = z.object({ version: z.string(), hash: z.string(), files: z.array(z.string()) });

export interface Runtime {
  hash: string;
  /** The program a runner is started with. */
  runner: string;
}

/** Copies the bundle if it is not there yet. Several processes may do it at once. */
export async function ensureRuntime(distDirectory: string, root: RootLayout): Promise<Runtime> {
  const manifest = await readManifest(distDirectory);
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
    await discard(staging);
    // Somebody else was first: that copy has the same content.
    if (!(await stat(target).catch(() => undefined))?.isDirectory()) {
      const explained = explainDisk(error);
      if (explained instanceof LanesError) throw explained;
      throw lanesError('internal:runtime', { folder: target, reason: wordsOf(error) });
    }
  }
  for (const path of await findUnusedRuntimes(root, manifest.hash, Date.now()))
    await rm(path, { recursive: true, force: true });
  return runtime;
}

async function readManifest(distDirectory: string): Promise<z.infer<typeof runtimeManifest>> {
  return runtimeManifest.parse(JSON.parse(await readFile(join(distDirectory, 'runtime.json'), 'utf8')));
}

/** Content hash of the bundle, all of whose files are there. Throws naming the one that is not. */
export async function checkBundle(distDirectory: string): Promise<string> {
  const { hash, files } = await readManifest(distDirectory);
  for (const file of files) await access(join(distDirectory, file), constants.R_OK);
  return hash;
}

/** Content hash of the bundle this client starts runs with; `undefined` when there is none. */
export async function ownRuntime(distDirectory: string): Promise<string | undefined> {
  const manifest = await readManifest(distDirectory).catch(() => undefined);
  return manifest?.hash;
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

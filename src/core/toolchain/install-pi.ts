/**
 * Installing Pi into a folder of our own, for machines that have none: `<agent folder>/pi-lanes/pi/<version>/`. Nothing
 * else on the machine changes. A copy gets its name by one rename, after it was installed whole and has told its version.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { LanesError, lanesError } from '../../protocol/index.ts';
import { makePrivateFolder, replaceFile, syncFolder } from '../files/index.ts';
import { acquireLock, type Lock, waitForLock } from '../locks/index.ts';
import { unfinishedCopies, unfinishedCopy } from './installed-pi.ts';
import { type Npm, runNpm } from './npm.ts';
import { type FindPiOptions, type PiLocation, piInFolder, probeVersion } from './pi.ts';
import { compareVersions } from './version.ts';

export const PI_PACKAGE = '@earendil-works/pi-coding-agent';
/** On the disk, with the packages it needs; measured with 1.6.0, for the question before it is downloaded. */
export const PI_MEGABYTES = 170;
/** The versions that are offered: those of the one that Pi Lanes is developed and tested with. */
export const OFFERED_PI = '~1.6.0';

const VIEW_TIMEOUT_MS = 60_000;
/** The first start reads every file from the disk. */
const CHECK_TIMEOUT_MS = 60_000;
/** Some 200 packages over a slow line. */
const INSTALL_TIMEOUT_MS = 20 * 60_000;

export interface PiOffer {
  version: string;
  /** Where npm takes it from: scheme and host, without a trailing slash. */
  registry: string;
  /** Where it goes. */
  folder: string;
}

export interface InstallPiOptions extends Omit<FindPiOptions, 'configured'> {
  npm: Npm;
  signal?: AbortSignal | undefined;
}

const published = z.object({ version: z.string(), 'dist.tarball': z.optional(z.string()) });
const view = z.union([
  z.array(published),
  z.pipe(
    published,
    z.transform((one) => [one]),
  ),
]);

/** The newest version that is offered, as npm knows it now. Installs nothing. */
export async function offerPi(options: InstallPiOptions): Promise<PiOffer> {
  await makePrivateFolder(options.installed);
  const args = ['view', `${PI_PACKAGE}@${OFFERED_PI}`, 'version', 'dist.tarball', '--json', '--loglevel=error'];
  const text = await runNpm(options.npm, args, {
    cwd: options.installed,
    timeoutMs: VIEW_TIMEOUT_MS,
    signal: options.signal,
  });
  const newest = readView(text).sort((a, b) => compareVersions(b.version, a.version))[0];
  if (!newest) {
    throw lanesError('pi_install_failed:none', { name: PI_PACKAGE, range: OFFERED_PI });
  }
  return {
    version: newest.version,
    registry: originOf(newest['dist.tarball']),
    folder: join(options.installed, newest.version),
  };
}

/** npm prints nothing where nothing matches, an object for one version, a list for several. */
function readView(text: string): z.infer<typeof published>[] {
  if (text.trim() === '') return [];
  try {
    const parsed = view.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch {
    // Said below.
  }
  throw lanesError('npm_failed:answer', { printed: text.slice(0, 200) });
}

function originOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : 'npm';
}

/** `waiting`: another window or command line installs just now. */
export type InstallStep = 'waiting' | 'downloading' | 'checking';

/**
 * Installs what was offered, or finds that it is there already. Throws `npm_failed`, `pi_install_failed` or the signal's
 * reason; then the folder is as it was before.
 */
export async function installPi(
  offer: PiOffer,
  options: InstallPiOptions & { onStep: (step: InstallStep) => void },
): Promise<PiLocation> {
  const { installed, signal, onStep } = options;
  await makePrivateFolder(installed);
  const lock = await takeTurn(installed, onStep, signal);
  try {
    for (const left of await unfinishedCopies(installed)) await remove(left);
    const present = await piInFolder(offer.folder, options);
    if (present?.version === offer.version) return present;
    const unfinished = unfinishedCopy(installed, offer.version);
    try {
      onStep('downloading');
      await download(offer, unfinished, options);
      onStep('checking');
      await check(offer, unfinished, options);
      signal?.throwIfAborted();
      // What holds the name is damaged, else it would have been found.
      await rm(offer.folder, { recursive: true, force: true, maxRetries: 5 });
      await replaceFile(unfinished, offer.folder);
    } finally {
      await remove(unfinished);
    }
    await syncFolder(installed);
    const found = await piInFolder(offer.folder, options);
    if (found) return found;
    throw lanesError('pi_install_failed:incomplete', { version: offer.version, folder: offer.folder });
  } finally {
    await lock.release();
  }
}

async function takeTurn(
  installed: string,
  onStep: (step: InstallStep) => void,
  signal: AbortSignal | undefined,
): Promise<Lock> {
  const path = join(installed, 'install');
  const purpose = 'installing Pi';
  try {
    return await acquireLock(path, { purpose });
  } catch (error) {
    if (!(error instanceof LanesError) || error.code !== 'lock_held') throw error;
    onStep('waiting');
    return waitForLock(path, { purpose, deadlineMs: INSTALL_TIMEOUT_MS, ...(signal ? { signal } : {}) });
  }
}

async function download(offer: PiOffer, folder: string, options: InstallPiOptions): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  const manifest = { name: 'pi-lanes-copy-of-pi', private: true };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest)}\n`);
  const args = [
    'install',
    // Whatever the person's configuration says, it goes here and nowhere else.
    ...['--prefix', folder, '--global=false', '--location=project', '--dry-run=false'],
    // Pi needs none of them.
    '--ignore-scripts',
    ...['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--loglevel=error'],
    `${PI_PACKAGE}@${offer.version}`,
  ];
  await runNpm(options.npm, args, { cwd: folder, timeoutMs: INSTALL_TIMEOUT_MS, signal: options.signal });
}

/** Starts what was installed: a package that is there may still lack a part. */
async function check(offer: PiOffer, folder: string, options: InstallPiOptions): Promise<void> {
  const found = await piInFolder(folder, options);
  if (!found) throw lanesError('pi_install_failed:incomplete', { version: offer.version, folder });
  const command =
    found.kind === 'script' ? { file: options.node.file, args: [found.file] } : { file: found.file, args: [] };
  const { version, said } = await probeVersion(command, options, CHECK_TIMEOUT_MS);
  if (version === offer.version) return;
  const words = said.split('\n')[0]?.slice(0, 200) ?? '';
  throw lanesError('pi_install_failed:version', { version: offer.version, said: words });
}

/** What cannot be removed now is removed by the next install. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(() => undefined);
}

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { projectRoot } from './project-root.ts';

export type PiVersion = '1.6' | '0.80' | '0.73';

/** Newest first. */
export const piVersions: readonly PiVersion[] = ['1.6', '0.80', '0.73'];

/** The exact packages behind the short names. 1.6 is the development dependency itself. */
const packages: Readonly<Record<PiVersion, { name: string; version: string }>> = {
  '1.6': { name: '@earendil-works/pi-coding-agent', version: '1.6.0' },
  '0.80': { name: '@earendil-works/pi-coding-agent', version: '0.80.10' },
  '0.73': { name: '@mariozechner/pi-coding-agent', version: '0.73.1' },
};

/** Leftovers of installs that were killed are removed after this many milliseconds. */
const STALE_AFTER = 60 * 60 * 1000;
const INSTALL_TIMEOUT = 5 * 60 * 1000;

const running = new Map<PiVersion, Promise<string>>();

/**
 * Path of the CLI script of a Pi version, to be run with Node. 0.80 and 0.73 are installed from the npm registry on
 * first use (about 10 s and 200 MB each) into `.cache/pi/<version>` of the project, or below `PI_LANES_TEST_CACHE`.
 * Any number of processes may ask at once.
 *
 * @throws Error with npm's output when the install fails
 */
export function piCli(version: PiVersion): Promise<string> {
  const known = running.get(version);
  if (known) return known;
  const started = find(version);
  running.set(version, started);
  // A failed install may be tried again by the next test.
  started.catch(() => running.delete(version));
  return started;
}

async function find(version: PiVersion): Promise<string> {
  const wanted = packages[version];
  const root = projectRoot();
  if (version === '1.6') return cliOf(root, wanted);
  const cache = join(process.env['PI_LANES_TEST_CACHE'] ?? join(root, '.cache'), 'pi');
  const folder = join(cache, wanted.version);
  const present = await cliOf(folder, wanted).catch(() => undefined);
  if (present !== undefined) return present;
  await removeStale(cache);
  // Never seen half done: the final name appears by one rename, when everything is in place.
  const temporary = join(cache, `${wanted.version}.tmp-${process.pid}-${randomUUID().slice(0, 8)}`);
  await mkdir(temporary, { recursive: true });
  try {
    await writeFile(join(temporary, 'package.json'), '{"private":true}\n');
    await npmInstall(temporary, `${wanted.name}@${wanted.version}`);
    await cliOf(temporary, wanted);
    await publish(temporary, folder, wanted);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return cliOf(folder, wanted);
}

/** Renames into place. Whoever comes second uses what the first one put there. */
async function publish(temporary: string, folder: string, wanted: { name: string; version: string }): Promise<void> {
  try {
    await rename(temporary, folder);
  } catch (error) {
    if (await cliOf(folder, wanted).catch(() => undefined)) return;
    // Something unusable holds the name, for example a half removed folder.
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder).catch(() => {
      throw error;
    });
  }
}

const manifestSchema = z.object({ version: z.string(), bin: z.object({ pi: z.string() }) });

/** @throws when the package is absent or has another version */
async function cliOf(folder: string, wanted: { name: string; version: string }): Promise<string> {
  const home = join(folder, 'node_modules', ...wanted.name.split('/'));
  const manifest = manifestSchema.parse(JSON.parse(await readFile(join(home, 'package.json'), 'utf8')));
  if (manifest.version !== wanted.version) {
    throw new Error(`${home} is version ${manifest.version}, the tests need ${wanted.version}`);
  }
  const cli = join(home, manifest.bin.pi);
  await stat(cli);
  return cli;
}

async function removeStale(cache: string): Promise<void> {
  for (const name of await readdir(cache).catch(() => [])) {
    if (!name.includes('.tmp-')) continue;
    const path = join(cache, name);
    const made = await stat(path).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > STALE_AFTER) await rm(path, { recursive: true, force: true });
  }
}

function npmInstall(folder: string, spec: string): Promise<void> {
  const windows = process.platform === 'win32';
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error', spec];
  return new Promise((resolve, reject) => {
    // npm is a batch file on Windows, which only a shell starts; nothing in `args` needs quoting.
    const npm = spawn('npm', args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: windows,
      timeout: INSTALL_TIMEOUT,
    });
    const output: Buffer[] = [];
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
    npm.once('error', (error) => reject(new Error(`npm could not be started: ${error.message}`)));
    npm.once('close', (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(`npm install ${spec} ended with ${signal ?? code}:\n${Buffer.concat(output).toString('utf8')}`),
        );
    });
  });
}

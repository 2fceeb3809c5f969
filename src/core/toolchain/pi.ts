/** Finding Pi: the setting, then `pi` on `PATH`, then a copy we installed. Never through a shell. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { type Command, type LanesError, lanesError } from '../../protocol/index.ts';
import { childEnvironment, runCommand } from '../processes/index.ts';
import { findOnPath, realOrSame } from './executables.ts';
import { installedCopies } from './installed-pi.ts';
import { fileStamp, type ProbeCache } from './probe-cache.ts';
import { atLeast } from './version.ts';

/** Below this nothing works; from `FULL_PI` on everything does. Between them: one child, and stop. */
export const OLDEST_PI = '0.73.0';
export const FULL_PI = '0.80.4';
/** Oldest Node that Pi runs on: 20.6 up to 0.74, then 22.19. */
export const PI_NODE_FLOOR = '22.19.0';

export interface PiLocation {
  /** `script`: to be run by Node. `binary`: started directly. */
  kind: 'script' | 'binary';
  /** The file to run, real path. */
  file: string;
  version: string;
  packageName: string;
  /** Which of the places, of which the first counts. */
  place: PiPlace;
  /** Where it was found, in words for a person. */
  origin: string;
}

/** `configured`: setting, shared file or variable. `path`: `pi` on `PATH`. `installed`: by *Install Pi…*. */
export type PiPlace = 'configured' | 'path' | 'installed';

export interface FindPiOptions {
  /** Setting `piLanes.pi.path`: a script, a binary, a shim or a package folder. */
  configured: string | undefined;
  /** Where that stands, for messages. */
  configuredIn?: string;
  env: NodeJS.ProcessEnv;
  /** Folder with copies made by *Install Pi…*, one subfolder per version. */
  installed: string;
  cache: ProbeCache;
  /** Node used to ask a script for its version when no package.json tells it. */
  node: { file: string; electron: boolean };
}

const packageManifest = z.object({
  name: z.string(),
  version: z.string(),
  bin: z.optional(z.union([z.string(), z.record(z.string(), z.string())])),
});

const PI_PACKAGES = ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'];

/** Throws `pi_path_invalid`, `pi_not_found` or `pi_too_old`, each naming what was looked at and the cure. */
export async function findPi(options: FindPiOptions): Promise<PiLocation> {
  if (options.configured) {
    const location = await fromConfigured(options.configured, options);
    if (isUsable(location)) return location;
    throw tooOld(location);
  }
  const onPath = await findOnPath('pi', options.env);
  // A Pi that is too old is passed over: a copy that we installed is there because of it.
  const old: PiLocation[] = [];
  for (const file of onPath) {
    const found = await fromFile(file, { place: 'path', origin: `pi on PATH (${file})` }, options);
    if (found && isUsable(found)) return found;
    if (found) old.push(found);
  }
  const installed = await findInstalledPi(options);
  if (installed) return installed;
  throw old[0] ? tooOld(old[0]) : notFound(onPath, options.installed);
}

/** The newest copy that *Install Pi…* made and that is whole; a damaged one is passed over. */
export async function findInstalledPi(options: Omit<FindPiOptions, 'configured'>): Promise<PiLocation | undefined> {
  for (const folder of await installedCopies(options.installed)) {
    const found = await piInFolder(folder, options);
    if (found && isUsable(found)) return found;
  }
  return undefined;
}

/** The Pi that an install has put into a folder; `undefined` when it is not whole. */
export function piInFolder(
  folder: string,
  options: Omit<FindPiOptions, 'configured'>,
): Promise<PiLocation | undefined> {
  return fromFolder(folder, { place: 'installed', origin: `installed by Pi Lanes in ${folder}` }, options);
}

function isUsable(location: PiLocation): boolean {
  return atLeast(location.version, OLDEST_PI);
}

function tooOld(location: PiLocation): LanesError {
  return lanesError('pi_too_old', { version: location.version, file: location.file, oldest: OLDEST_PI, full: FULL_PI });
}

function notFound(onPath: readonly string[], installed: string): LanesError {
  return onPath.length === 0
    ? lanesError('pi_not_found:none', { folder: installed })
    : lanesError('pi_not_found:others', { folder: installed, files: onPath.join(', ') });
}

async function fromConfigured(path: string, options: FindPiOptions): Promise<PiLocation> {
  const file = resolve(path);
  const info = await stat(file).catch(() => undefined);
  const origin = options.configuredIn ?? 'setting pi.path';
  if (!info) throw lanesError('pi_path_invalid:missing', { path, source: origin });
  const found = await (info.isDirectory() ? fromFolder : fromFile)(file, { place: 'configured', origin }, options);
  if (!found) {
    const text = info.isDirectory() ? 'pi_path_invalid:folder' : 'pi_path_invalid:file';
    throw lanesError(text, { path, source: origin });
  }
  return found;
}

type Found = Pick<PiLocation, 'place' | 'origin'>;
type LookOptions = Pick<FindPiOptions, 'cache' | 'env' | 'node'>;

/** A package folder, or a folder whose `node_modules` holds the package. */
async function fromFolder(folder: string, as: Found, options: LookOptions): Promise<PiLocation | undefined> {
  for (const at of [folder, ...PI_PACKAGES.flatMap((name) => [join(folder, 'node_modules', name)])]) {
    const manifest = await readManifest(at);
    if (!manifest || !PI_PACKAGES.includes(manifest.name)) continue;
    const bin = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin?.['pi'];
    if (bin) return fromFile(join(at, bin), as, options);
  }
  return undefined;
}

const SCRIPT_ENDINGS = ['.js', '.mjs', '.cjs'];
const ELECTRON_AS_NODE = { ELECTRON_RUN_AS_NODE: '1' };

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}

async function fromFile(file: string, as: Found, options: LookOptions): Promise<PiLocation | undefined> {
  const real = await realOrSame(file);
  if (!(await isFile(real))) return undefined;
  const script = SCRIPT_ENDINGS.includes(extname(real)) ? real : await scriptBehindShim(real);
  const target = script ?? real;
  if (!(await isFile(target))) return undefined;
  const kind = script ? 'script' : 'binary';
  const manifest = await manifestAbove(target);
  if (manifest) return { kind, file: target, version: manifest.version, packageName: manifest.name, ...as };
  const version = await askVersion(
    kind === 'script' ? { file: options.node.file, args: [target] } : { file: target, args: [] },
    target,
    options,
  );
  return version ? { kind, file: target, version, packageName: 'pi', ...as } : undefined;
}

/** npm's shims (`pi`, `pi.cmd`) and our own wrappers name the script they start; scripts with a Node shebang are one. */
async function scriptBehindShim(file: string): Promise<string | undefined> {
  const info = await stat(file);
  if (info.size > 64 * 1024) return undefined;
  const text = await readFile(file, 'utf8');
  if (/^#!.*\bnode\b/.test(text)) return file;
  // `"%dp0%\node_modules\…\cli.js"` (cmd) or `"$basedir/node_modules/…/cli.js"` (sh).
  const match = /["']?(?:%~?dp0%?|\$basedir|\$\{basedir\})[\\/]([^"'\r\n]+?\.[cm]?js)["']?/.exec(text);
  if (!match?.[1]) return undefined;
  return realOrSame(join(dirname(file), match[1].replaceAll('\\', '/')));
}

async function manifestAbove(file: string): Promise<z.infer<typeof packageManifest> | undefined> {
  for (let at = dirname(file); dirname(at) !== at; at = dirname(at)) {
    const manifest = await readManifest(at);
    if (manifest) return PI_PACKAGES.includes(manifest.name) ? manifest : undefined;
  }
  return undefined;
}

async function readManifest(folder: string): Promise<z.infer<typeof packageManifest> | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const parsed = packageManifest.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

const probe = z.object({ version: z.string() });

async function askVersion(command: Command, file: string, options: LookOptions): Promise<string | undefined> {
  const key = await fileStamp(file);
  const known = await options.cache.get('pi-version', key, probe);
  if (known) return known.version;
  const { version } = await probeVersion(command, options);
  if (version !== undefined) await options.cache.set('pi-version', key, { version });
  return version;
}

/** `pi --version`, really started. Pi 0.73 prints it on stderr when stdout is no terminal. */
export async function probeVersion(
  command: Command,
  options: Pick<FindPiOptions, 'env' | 'node'>,
  timeoutMs = 10_000,
): Promise<{ version?: string; said: string }> {
  const result = await runCommand(
    { file: command.file, args: [...command.args, '--version'] },
    {
      timeoutMs,
      // Without it the editor would open a window instead of running the script.
      env: childEnvironment(options.env, { PI_OFFLINE: '1', ...(options.node.electron ? ELECTRON_AS_NODE : {}) }),
    },
  );
  const said = `${result.stdout}\n${result.stderr}`.trim();
  // Node answers with a `v` in front.
  const version = /^(\d+\.\d+\.\d+\S*)\s*$/m.exec(said)?.[1];
  return result.exitCode === 0 && version ? { version, said } : { said: said || result.message };
}

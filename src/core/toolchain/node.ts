/** Finding the Node that runs our runner, the command line and Pi's script. */
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { type LanesError, lanesError } from '../../protocol/index.ts';
import { childEnvironment, runCommand } from '../processes/index.ts';
import { findOnPath, realOrSame } from './executables.ts';
import { fileStamp, type ProbeCache } from './probe-cache.ts';
import { atLeast } from './version.ts';

export const NODE_FLOOR = '22.19.0';

export interface NodeLocation {
  file: string;
  version: string;
  origin: string;
  /** The editor's own executable: needs `ELECTRON_RUN_AS_NODE=1`. */
  electron: boolean;
}

export interface FindNodeOptions {
  /** Setting `piLanes.node.path`. */
  configured: string | undefined;
  /** Where that stands, for messages. */
  configuredIn?: string;
  env: NodeJS.ProcessEnv;
  cache: ProbeCache;
  /** This process: its executable and versions, for the last resort. */
  self?: { file: string; node: string; electron: boolean };
}

const SELF = {
  file: process.execPath,
  node: process.versions.node,
  electron: process.versions['electron'] !== undefined,
};

/** Throws `node_not_found` naming everything that was tried. */
export async function findNode(options: FindNodeOptions): Promise<NodeLocation> {
  const self = options.self ?? SELF;
  const tried: string[] = [];
  if (options.configured) {
    const version = await nodeVersion(options.configured, options);
    if (version && atLeast(version, NODE_FLOOR)) {
      return {
        file: options.configured,
        version,
        origin: options.configuredIn ?? 'setting node.path',
        electron: false,
      };
    }
    tried.push(
      `${options.configuredIn ?? 'setting node.path'} (${options.configured}): ${version ? `is ${version}` : 'does not run'}`,
    );
    throw notFound(tried);
  }
  // A Pi installed by npm sits beside the Node it was installed with.
  const besidePi = (await findOnPath('pi', options.env)).map((pi) => join(dirname(pi), nodeName()));
  const onPath = await findOnPath('node', options.env);
  for (const candidate of new Set([...besidePi, ...onPath])) {
    const version = await nodeVersion(candidate, options);
    if (version && atLeast(version, NODE_FLOOR))
      return { file: await realOrSame(candidate), version, origin: candidate, electron: false };
    if (version) tried.push(`${candidate}: is ${version}`);
    else if (onPath.includes(candidate)) tried.push(`${candidate}: does not run`);
  }
  if (onPath.length === 0) tried.push('PATH: has no node');
  if (atLeast(self.node, NODE_FLOOR)) {
    return {
      file: self.file,
      version: self.node,
      origin: self.electron ? "the editor's own Node" : 'this process',
      electron: self.electron,
    };
  }
  tried.push(`${self.electron ? 'the editor' : 'this process'} (${self.file}): is ${self.node}`);
  throw notFound(tried);
}

function nodeName(): string {
  return process.platform === 'win32' ? 'node.exe' : 'node';
}

function notFound(tried: string[]): LanesError {
  return lanesError('node_not_found', { floor: NODE_FLOOR, tried: tried.join('; ') });
}

const probe = z.object({ version: z.string() });

async function nodeVersion(file: string, options: FindNodeOptions): Promise<string | undefined> {
  if ((await realOrSame(file)) === (await realOrSame(SELF.file)) && !SELF.electron) return SELF.node;
  const key = await fileStamp(await realOrSame(file));
  if (key.endsWith(':missing')) return undefined;
  const known = await options.cache.get('node-version', key, probe);
  if (known) return known.version;
  const result = await runCommand(
    { file, args: ['--version'] },
    { timeoutMs: 10_000, env: childEnvironment(options.env) },
  );
  const version = /^v(\d+\.\d+\.\d+)/.exec(result.stdout)?.[1];
  if (!version) return undefined;
  await options.cache.set('node-version', key, { version });
  return version;
}

/** Settings that all clients share: `<agentDir>/pi-lanes/config.json`, overridden by environment variables. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { describeFaults, lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';

export * from './time-limit.ts';

/** Days a run is kept after its end when nobody says otherwise. */
export const DEFAULT_RETENTION_DAYS = 30;

/** A century: more is a mistake in writing. 0: for ever. */
const retentionDays = z.int().check(z.minimum(0), z.maximum(36_500));

const configFile = z.looseObject({
  retention: z.optional(z.looseObject({ days: z.optional(retentionDays) })),
  pi: z.optional(z.looseObject({ path: z.optional(z.string()) })),
  node: z.optional(z.looseObject({ path: z.optional(z.string()) })),
  runner: z.optional(z.looseObject({ systemdScope: z.optional(z.boolean()) })),
});

export interface Settings {
  /** Absent: look on `PATH`. */
  piPath: string | undefined;
  nodePath: string | undefined;
  /** Days a run is kept after its end; 0: for ever. */
  retentionDays?: number | undefined;
  /** Where the path stands, in words a person can act on. */
  piSource?: string;
  nodeSource?: string;
  /** Runners are started in scopes of systemd, where that can be done. */
  systemdScope?: boolean;
}

/** Throws `config_invalid` naming the file, the field and the rule. A missing file means no settings. */
export async function loadSettings(path: string, env: NodeJS.ProcessEnv = process.env): Promise<Settings> {
  const config = await readConfig(path);
  return {
    piPath: env['PI_LANES_PI'] || config.pi?.path || undefined,
    nodePath: env['PI_LANES_NODE'] || config.node?.path || undefined,
    retentionDays: config.retention?.days,
    piSource: env['PI_LANES_PI'] ? 'variable PI_LANES_PI' : `pi.path in ${path}`,
    nodeSource: env['PI_LANES_NODE'] ? 'variable PI_LANES_NODE' : `node.path in ${path}`,
    ...(config.runner?.systemdScope === undefined ? {} : { systemdScope: config.runner.systemdScope }),
  };
}

async function readConfig(path: string): Promise<z.infer<typeof configFile>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return {};
    throw lanesError('config_invalid:unreadable', { file: path, reason: wordsOf(error) });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw lanesError('config_invalid:json', { file: path, reason: wordsOf(error) });
  }
  const parsed = configFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:field', { file: path, faults: describeFaults(parsed.error) });
}

/**
 * Checks a number of days that came from anywhere but the shared file. Nothing is guessed: runs are removed by it.
 * @param source where it stands, in words a person can act on
 */
export function parseRetentionDays(value: unknown, source: string): number {
  const parsed = retentionDays.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = describeFaults(parsed.error);
  throw lanesError('config_invalid:days', { source, value: JSON.stringify(value) ?? 'undefined', faults });
}

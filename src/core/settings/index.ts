/** Settings that all clients share: `<agentDir>/pi-lanes/config.json`, overridden by environment variables. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { describeFaults, LanesError } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';

export * from './time-limit.ts';

const configFile = z.looseObject({
  pi: z.optional(z.looseObject({ path: z.optional(z.string()) })),
  node: z.optional(z.looseObject({ path: z.optional(z.string()) })),
  runner: z.optional(z.looseObject({ systemdScope: z.optional(z.boolean()) })),
});

export interface Settings {
  /** Absent: look on `PATH`. */
  piPath: string | undefined;
  nodePath: string | undefined;
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
    throw new LanesError(
      'config_invalid',
      `${path} cannot be read: ${error instanceof Error ? error.message : error}.`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new LanesError(
      'config_invalid',
      `${path} is not JSON: ${error instanceof Error ? error.message : error}.`,
      'Correct or remove it.',
    );
  }
  const parsed = configFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new LanesError('config_invalid', `${path}: ${describeFaults(parsed.error)}.`, 'Correct or remove it.');
}

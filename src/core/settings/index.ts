/** Settings that all clients share: `<agentDir>/pi-lanes/config.json`, overridden by environment variables. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { describeFaults, lanesError, wordsOf } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';

const configFile = z.looseObject({
  pi: z.optional(z.looseObject({ path: z.optional(z.string()) })),
  node: z.optional(z.looseObject({ path: z.optional(z.string()) })),
});

export interface Settings {
  /** Absent: look on `PATH`. */
  piPath: string | undefined;
  nodePath: string | undefined;
  /** Where the path stands, in words a person can act on. */
  piSource?: string;
  nodeSource?: string;
}

/** Throws `config_invalid` naming the file, the field and the rule. A missing file means no settings. */
export async function loadSettings(path: string, env: NodeJS.ProcessEnv = process.env): Promise<Settings> {
  const config = await readConfig(path);
  return {
    piPath: env['PI_LANES_PI'] || config.pi?.path || undefined,
    nodePath: env['PI_LANES_NODE'] || config.node?.path || undefined,
    piSource: env['PI_LANES_PI'] ? 'variable PI_LANES_PI' : `pi.path in ${path}`,
    nodeSource: env['PI_LANES_NODE'] ? 'variable PI_LANES_NODE' : `node.path in ${path}`,
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

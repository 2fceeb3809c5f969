/** What the shared settings and the environment say about launches that call and agent leave open. */
import * as z from 'zod/mini';
import { type LaunchDefaults, lanesError, type ToolRules, toolBudget, toolRules } from '../../protocol/index.ts';
import { readJsonFile } from '../json-files/index.ts';
import { MAX_LIMIT_MS } from './time-limit.ts';

const limit = z.int().check(z.minimum(1), z.maximum(MAX_LIMIT_MS));

const launchConfig = z.looseObject({
  timeoutMs: z.optional(limit),
  toolTimeoutMs: z.optional(limit),
  toolBudget: z.optional(toolBudget),
  defaultSubagentContext: z.optional(z.enum(['fresh', 'fork'])),
  waitTool: z.optional(
    z.union([
      z.literal(false),
      z.strictObject({ enabled: z.optional(z.boolean()), defaultTimeoutMs: z.optional(limit) }),
    ]),
  ),
  permissions: z.optional(z.looseObject({ rules: z.optional(toolRules) })),
});

/** Milliseconds a child waits for a run it has started, when nobody says otherwise. */
const DEFAULT_WAIT_MS = 30 * 60 * 1000;

export interface LaunchSettings {
  defaults: Pick<LaunchDefaults, 'timeoutMs' | 'toolTimeoutMs' | 'toolBudget' | 'context' | 'wait'>;
  /** Rules of the run. */
  toolRules: ToolRules;
}

/**
 * The file counts before the environment.
 *
 * @throws LanesError `config_invalid` for a value that is none, wherever it stands: a limit that is not understood is no limit
 */
export async function readLaunchSettings(file: string, env: NodeJS.ProcessEnv): Promise<LaunchSettings> {
  const config = (await readJsonFile(file, launchConfig)) ?? {};
  const { timeoutMs, toolBudget: budget, defaultSubagentContext: context, waitTool } = config;
  const toolTimeoutMs = config.toolTimeoutMs ?? milliseconds(env, 'PI_SUBAGENT_TOOL_TIMEOUT_MS');
  const wait = waitTool === false ? { enabled: false } : waitTool;
  return {
    defaults: {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
      ...(budget === undefined ? {} : { toolBudget: budget }),
      ...(context === undefined ? {} : { context }),
      wait: {
        enabled: wait?.enabled ?? flag(env, 'PI_SUBAGENT_WAIT_TOOL_ENABLED') ?? true,
        defaultTimeoutMs:
          wait?.defaultTimeoutMs ?? milliseconds(env, 'PI_SUBAGENT_WAIT_TOOL_DEFAULT_TIMEOUT_MS') ?? DEFAULT_WAIT_MS,
      },
    },
    toolRules: config.permissions?.rules ?? {},
  };
}

function milliseconds(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_LIMIT_MS) return value;
  throw lanesError('config_invalid:variable', { name, value: text, rule: `milliseconds from 1 to ${MAX_LIMIT_MS}` });
}

function flag(env: NodeJS.ProcessEnv, name: string): boolean | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw lanesError('config_invalid:variable', { name, value: text, rule: 'true or false' });
}

/** Settings that all clients share: `<agentDir>/pi-lanes/config.json`, overridden by environment variables. */
import * as z from 'zod/mini';
import { describeFaults, lanesError, type Writers, writers } from '../../protocol/index.ts';
import { readJsonFile } from '../json-files/index.ts';
import { MAX_LIMIT_MS } from './time-limit.ts';

export * from './launch-settings.ts';
export * from './time-limit.ts';

/** Days a run is kept after its end when nobody says otherwise. */
export const DEFAULT_RETENTION_DAYS = 30;

/** A century: more is a mistake in writing. 0: for ever. */
const retentionDays = z.int().check(z.minimum(0), z.maximum(36_500));

/** A path a person has configured, and where that stands, in words they can act on. */
export interface ConfiguredPath {
  /** Absent: look on `PATH`. */
  path: string | undefined;
  source: string;
}

/*
 * Each setting is read where it is needed, and only that one is checked: a wrong number of days must not keep a run from being
 * stopped. All throw `config_invalid` naming the file, the field and the rule; a missing file means no settings.
 */

const piConfig = z.looseObject({ pi: z.optional(z.looseObject({ path: z.optional(z.string()) })) });

/** `PI_LANES_PI`, else `pi.path` of the shared file. */
export async function configuredPi(file: string, env: NodeJS.ProcessEnv): Promise<ConfiguredPath> {
  if (env['PI_LANES_PI']) return { path: env['PI_LANES_PI'], source: 'variable PI_LANES_PI' };
  return { path: (await readJsonFile(file, piConfig))?.pi?.path || undefined, source: `pi.path in ${file}` };
}

const nodeConfig = z.looseObject({ node: z.optional(z.looseObject({ path: z.optional(z.string()) })) });

/** `PI_LANES_NODE`, else `node.path` of the shared file. */
export async function configuredNode(file: string, env: NodeJS.ProcessEnv): Promise<ConfiguredPath> {
  if (env['PI_LANES_NODE']) return { path: env['PI_LANES_NODE'], source: 'variable PI_LANES_NODE' };
  return { path: (await readJsonFile(file, nodeConfig))?.node?.path || undefined, source: `node.path in ${file}` };
}

const retentionConfig = z.looseObject({ retention: z.optional(z.looseObject({ days: z.optional(retentionDays) })) });

/** `retention.days` of the shared file; `undefined`: it says nothing. */
export async function configuredRetentionDays(file: string): Promise<number | undefined> {
  return (await readJsonFile(file, retentionConfig))?.retention?.days;
}

const runnerConfig = z.looseObject({ runner: z.optional(z.looseObject({ systemdScope: z.optional(z.boolean()) })) });

/** `runner.systemdScope` of the shared file; `undefined`: it says nothing. */
export async function configuredSystemdScope(file: string): Promise<boolean | undefined> {
  return (await readJsonFile(file, runnerConfig))?.runner?.systemdScope;
}

const worktreeValues = z.looseObject({
  folder: z.optional(z.string().check(z.minLength(1))),
  copies: z.optional(z.array(z.string())),
  links: z.optional(z.array(z.string())),
  setupHook: z.optional(z.string().check(z.minLength(1))),
  setupHookTimeoutMs: z.optional(z.int().check(z.positive(), z.maximum(MAX_LIMIT_MS))),
});
const worktreeConfig = z.looseObject({ worktrees: z.optional(worktreeValues) });

/** Where worktrees are made, and what is put into them; absent values fall through to the defaults. */
export interface ConfiguredWorktrees {
  folder?: string | undefined;
  copies?: string[] | undefined;
  links?: string[] | undefined;
  setupHook?: string | undefined;
  setupHookTimeoutMs?: number | undefined;
}

/** `worktrees` of the shared file; its folder else `PI_SUBAGENTS_WORKTREE_DIR`. */
export async function configuredWorktrees(file: string, env: NodeJS.ProcessEnv): Promise<ConfiguredWorktrees> {
  const { folder = env['PI_SUBAGENTS_WORKTREE_DIR'] || undefined, ...others } =
    (await readJsonFile(file, worktreeConfig))?.worktrees ?? {};
  const { copies, links, setupHook, setupHookTimeoutMs } = others;
  return { folder, copies, links, setupHook, setupHookTimeoutMs };
}

/**
 * Checks what came from anywhere but the shared file; a hook must not run, or be left out, by a mistake in writing.
 * @param source where it stands, in words a person can act on
 */
export function parseWorktrees(value: unknown, source: string): ConfiguredWorktrees {
  const parsed = worktreeValues.safeParse(value);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:field', { file: source, faults: describeFaults(parsed.error) });
}

const writersConfig = z.looseObject({ writers: z.optional(writers) });

/** `PI_LANES_WRITERS`, else `writers` of the shared file; `undefined`: neither says anything. */
export async function configuredWriters(file: string, env: NodeJS.ProcessEnv): Promise<Writers | undefined> {
  const given = env['PI_LANES_WRITERS'];
  if (!given) return (await readJsonFile(file, writersConfig))?.writers;
  const parsed = writers.safeParse(given);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:writers', { value: given });
}

/** The same check for a value that came from anywhere else. @param source where it stands */
export function parseWriters(value: unknown, source: string): Writers {
  const parsed = writers.safeParse(value);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:field', { file: source, faults: describeFaults(parsed.error) });
}

const exclusionConfig = z.looseObject({
  modelExclusions: z.optional(
    z.looseObject({ defaultTtlMs: z.optional(z.int().check(z.minimum(1), z.maximum(8e15))) }),
  ),
});

/** Milliseconds a model is left out whose provider has failed: `modelExclusions.defaultTtlMs` of the shared file. */
export async function configuredExclusionMs(file: string): Promise<number | undefined> {
  return (await readJsonFile(file, exclusionConfig))?.modelExclusions?.defaultTtlMs;
}

/**
 * Checks a number of days that came from anywhere but the shared file. Nothing is guessed: runs are removed by it.
 * @param source where it stands, in words a person can act on
 */
export function parseRetentionDays(value: unknown, source: string): number {
  const parsed = retentionDays.safeParse(value);
  if (parsed.success) return parsed.data;
  throw lanesError('config_invalid:days', { source, value: JSON.stringify(value) ?? 'undefined' });
}

/** A program of the person that makes a worktree ready: told by JSON on its input, it answers with JSON. */
import { lstat, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, posix, resolve } from 'node:path';
import * as z from 'zod/mini';
import { lanesError, type WorktreeRecord, wordsOf } from '../../protocol/index.ts';
import type { Git } from '../git/index.ts';
import { childEnvironment, runByteCommand } from '../processes/index.ts';

export interface SetupHook {
  /** Absolute, `~/…`, or relative to the root of the checkout. A bare name is no path. */
  path: string;
  /** Default 30 seconds. */
  timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

const answer = z.object({ syntheticPaths: z.optional(z.array(z.string())) });

/** The file of a hook. Throws `worktree_refused` when there is none. Checked before anything starts. */
export async function findSetupHook(root: string, path: string): Promise<string> {
  const refused = lanesError('worktree_refused:setup', { path });
  if (!/[/\\]/.test(path)) throw refused;
  const full = /^~[/\\]/.test(path) ? join(homedir(), path.slice(2)) : resolve(root, path);
  const info = await stat(full).catch(() => undefined);
  if (!info?.isFile()) throw refused;
  return full;
}

/**
 * Runs the hook in the worktree. The answer: paths of what it has made and that is nobody's work. Throws
 * `worktree_setup_failed`.
 */
export async function runSetupHook(
  git: Git,
  record: WorktreeRecord,
  hook: SetupHook & { agent?: string | undefined },
  signal?: AbortSignal,
): Promise<string[]> {
  const { path, timeoutMs = DEFAULT_TIMEOUT_MS, agent } = hook;
  const fail = (reason: string) => lanesError('worktree_setup_failed', { path, reason });
  const file = await findSetupHook(record.root, path);
  const input = {
    version: 1,
    repoRoot: record.root,
    worktreePath: record.path,
    agentCwd: record.folder,
    branch: record.branch,
    index: record.child - 1,
    runId: record.runId,
    baseCommit: record.base,
    ...(agent !== undefined && { agent }),
  };
  const result = await runByteCommand(file, [], {
    cwd: record.path,
    env: childEnvironment(process.env),
    timeoutMs,
    signal,
    input: Buffer.from(JSON.stringify(input)),
    maxBytes: MAX_OUTPUT_BYTES,
  });
  if (result.failed === 'timeout') throw fail(`it took longer than ${Math.ceil(timeoutMs / 1000)} seconds`);
  if (result.failed !== undefined) throw fail(result.message || result.failed);
  if (result.exitCode !== 0) {
    throw fail(`exit code ${result.exitCode ?? 'unknown'} ${result.stderr.trim().split('\n').at(-1) ?? ''}`.trim());
  }
  const paths = parseAnswer(result.stdout.toString('utf8'), fail);
  for (const one of paths) {
    const fault = await pathFault(git, record, one);
    if (fault) throw fail(`syntheticPaths has ${JSON.stringify(one)}: ${fault}`);
  }
  return paths;
}

function parseAnswer(text: string, fail: (reason: string) => Error): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail(`it did not print one JSON object: ${wordsOf(error)}`);
  }
  const parsed = answer.safeParse(value);
  if (!parsed.success || Array.isArray(value)) throw fail('what it printed is not { "syntheticPaths": ["…"] }');
  return [...new Set((parsed.data.syntheticPaths ?? []).map((path) => posix.normalize(path).replace(/\/$/, '')))];
}

async function pathFault(git: Git, record: WorktreeRecord, path: string): Promise<string | undefined> {
  if (isAbsolute(path) || posix.isAbsolute(path)) return 'it is absolute';
  if (path === '.' || path === '' || path === '..' || path.startsWith('../')) return 'it is not inside the worktree';
  if (path === '.git' || path.startsWith('.git/')) return "it is git's own";
  const tracked = await git.records(record.path, ['ls-files', '-z', '--', `:(literal)${path}`]);
  if (tracked.length > 0) return 'it is tracked';
  const there = await lstat(join(record.path, path)).catch(() => undefined);
  return there ? undefined : 'there is no such file';
}

/** Making the worktrees of a group of children: all of them, or none. */
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  describeError,
  type ErrorValue,
  LanesError,
  lanesError,
  toErrorValue,
  type WorktreePlan,
  type WorktreeRecord,
  withDetail,
  wordsOf,
} from '../../protocol/index.ts';
import { makeFolders } from '../files/index.ts';
import { type Git, type GitAnswer, isLocked, isUnproven, listWorktrees, type RepositoryLock } from '../git/index.ts';
import { gitFolderOf } from './identity.ts';
import { nameWorktree } from './names.ts';
import { placeUnwritable } from './place.ts';
import type { WorktreeSource } from './source.ts';
import { undoWorktree } from './undo.ts';

/** Where intents and facts are written down. What a call writes is durable when it resolves. */
export interface WorktreeJournal {
  planned(plan: WorktreePlan): Promise<void>;
  made(record: WorktreeRecord): Promise<void>;
  /** The same worktree, with what was put there besides the checkout. */
  provisioned(record: WorktreeRecord): Promise<void>;
  /** @param left what could not be taken back */
  undone(plan: WorktreePlan, left: readonly ErrorValue[]): Promise<void>;
}

export interface WorktreeRequest {
  source: WorktreeSource;
  runId: string;
  /** Number of the child, from 1. */
  child: number;
  /** What the branch is named after: lane, key or agent. */
  label: string;
}

export interface Allocator {
  git: Git;
  lock: RepositoryLock;
  journal: WorktreeJournal;
  /** Puts what children need into a worktree; a failure takes it back. */
  provision?: (record: WorktreeRecord, signal: AbortSignal | undefined) => Promise<WorktreeRecord>;
  /** Prefix of branches. */
  prefix?: string;
  now?: () => number;
}

/** A checkout may be large, and a hook of the repository may build something. */
const ADD_TIMEOUT_MS = 10 * 60_000;
/** How long another git's lock files are waited for. */
const LOCKED_MS = 30_000;

/**
 * One worktree for each request, in order. When one fails, those made before are taken back, and the error is thrown with what
 * could not be. All requests are of one repository.
 */
export async function allocateWorktrees(
  allocator: Allocator,
  requests: readonly WorktreeRequest[],
  signal?: AbortSignal,
): Promise<WorktreeRecord[]> {
  const made: WorktreeRecord[] = [];
  try {
    for (const request of requests) {
      const purpose = `making a worktree for ${request.label}`;
      made.push(await allocator.lock.run(purpose, () => makeOne(allocator, request, signal), { signal }));
    }
    // A hook of the person may take long: nobody else need wait for it.
    const ready: WorktreeRecord[] = [];
    for (const record of made) {
      signal?.throwIfAborted();
      const full = (await allocator.provision?.(record, signal)) ?? record;
      if (full !== record) await allocator.journal.provisioned(full);
      ready.push(full);
    }
    return ready;
  } catch (error) {
    const left: ErrorValue[] = [];
    for (const record of made.reverse()) {
      if (isUnproven(error)) {
        // The repository stays locked, for us too.
        left.push(describeError('worktree_left', { what: record.path, reason: wordsOf(error) }));
        continue;
      }
      // Not given up by a stop: what was made is taken back in any case.
      await allocator.lock
        .run('taking a worktree back', async () => left.push(...(await undo(allocator, record))))
        .catch((failure: unknown) => left.push(toErrorValue(failure)));
    }
    throw withLeftovers(error, left);
  }
}

async function makeOne(
  allocator: Allocator,
  request: WorktreeRequest,
  signal: AbortSignal | undefined,
): Promise<WorktreeRecord> {
  const { git, journal } = allocator;
  const plan = await planWorktree(allocator, request);
  await makeFolders(request.source.place).catch((error: unknown) => {
    throw placeUnwritable(request.source.place, error);
  });
  await journal.planned(plan);
  const deadline = performance.now() + LOCKED_MS;
  for (let wait = 20; ; wait = Math.min(wait * 2, 500)) {
    let answer: GitAnswer | undefined;
    try {
      answer = await add(git, plan, signal);
      const record = await recordOf(git, plan, answer, allocator.now?.() ?? Date.now());
      await journal.made(record);
      return record;
    } catch (error) {
      // Nothing more may be done here while that git may still be at work.
      if (isUnproven(error)) throw error;
      const left = await undoWorktree(git, plan).catch((failure: unknown) => [toErrorValue(failure)]);
      const again = answer && answer.exitCode !== 0 && isLocked(answer.stderr) && performance.now() < deadline;
      if (again && left.length === 0 && !signal?.aborted) {
        await delay(wait * (0.5 + Math.random()));
        continue;
      }
      await journal.undone(plan, left);
      throw withLeftovers(answer && answer.exitCode !== 0 ? failureOf(plan, answer.stderr) : error, left);
    }
  }
}

async function planWorktree({ git, prefix }: Allocator, request: WorktreeRequest): Promise<WorktreePlan> {
  const { source, runId, child, label } = request;
  const refs = await git.line(source.repository, ['for-each-ref', '--format=%(refname)', 'refs/heads']);
  const taken = new Set(refs.split('\n').map((ref) => ref.slice('refs/heads/'.length)));
  // Of a worktree whose folder is gone git still has the path, and would refuse another one there.
  const registered = new Set((await listWorktrees(git, source.repository)).map((one) => one.path.toLowerCase()));
  for (;;) {
    const { branch, leaf } = nameWorktree({ label, runId, child }, taken, prefix);
    const path = join(source.place, leaf);
    const there = await lstat(path).then(
      () => true,
      () => false,
    );
    if (!there && !registered.has(path.toLowerCase())) {
      const folder = join(path, source.subfolder);
      const { repository, root, base } = source;
      return { version: 1, runId, child, repository, root, path, folder, branch, base };
    }
    taken.add(branch);
  }
}

function add(git: Git, plan: WorktreePlan, signal: AbortSignal | undefined): Promise<GitAnswer> {
  // Without tracking: it would be written into the one configuration file that all branches share.
  const args = ['worktree', 'add', '--no-track', '--quiet', '-b', plan.branch, '--', plan.path, plan.base];
  return git.run(plan.root, args, { timeoutMs: ADD_TIMEOUT_MS, signal, hooks: true, accept: 'any', retry: false });
}

/** The fact, when the worktree is there as it was planned. Throws when it is not. */
async function recordOf(git: Git, plan: WorktreePlan, answer: GitAnswer, madeAt: number): Promise<WorktreeRecord> {
  const gitFolder = await gitFolderOf(plan.path, plan.repository);
  const [head, branch] = await Promise.all([
    git.line(plan.path, ['rev-parse', '--verify', 'HEAD']),
    git.line(plan.path, ['symbolic-ref', '--short', 'HEAD']),
  ]);
  if (head !== plan.base || branch !== plan.branch)
    throw lanesError('worktree_failed', { path: plan.path, reason: `HEAD is ${branch} at ${head}` });
  const warnings: ErrorValue[] = [];
  if (answer.exitCode !== 0) {
    const missing = await git.records(plan.path, ['status', '--porcelain', '-z', '--untracked-files=no']);
    if (missing.length > 0) throw failureOf(plan, answer.stderr);
    // All files are there, so what failed is the repository's hook, which git runs last.
    warnings.push(describeError('worktree_hook_failed', { reason: lastLine(answer.stderr) }));
  }
  // A folder of the source that has no tracked file is in no commit.
  if (plan.folder !== plan.path) await mkdir(plan.folder, { recursive: true });
  return { ...plan, gitFolder, madeAt, synthetic: [], warnings };
}

/** Of an intent without a fact: takes over what is there as planned, takes back everything else. The caller holds no lock. */
export async function settlePlan(allocator: Allocator, plan: WorktreePlan): Promise<WorktreeRecord | undefined> {
  const { git, lock, journal } = allocator;
  return lock.run('putting a worktree in order', async () => {
    await othersDone(git, plan);
    const whole: GitAnswer = { stdout: Buffer.alloc(0), stderr: '', exitCode: 1 };
    try {
      const record = await recordOf(git, plan, whole, allocator.now?.() ?? Date.now());
      await journal.made({ ...record, warnings: [] });
      return { ...record, warnings: [] };
    } catch (error) {
      if (isUnproven(error)) throw error;
      await undo(allocator, plan);
      return undefined;
    }
  });
}

/**
 * Takes back a worktree in which no child has begun. Whatever was made ready in it goes with it.
 * @returns what could not be removed
 */
export function takeBack(allocator: Allocator, plan: WorktreePlan): Promise<ErrorValue[]> {
  return allocator.lock.run('taking a worktree back', () => undo(allocator, plan));
}

/** A git that a dead runner has started may still be filling the worktree; it marks it so, until it is done. */
async function othersDone(git: Git, plan: WorktreePlan): Promise<void> {
  const deadline = performance.now() + LOCKED_MS;
  while (performance.now() < deadline) {
    const entry = (await listWorktrees(git, plan.repository)).find(({ path }) => path === plan.path);
    if (entry?.locked !== 'initializing') return;
    await delay(100);
  }
}

async function undo({ git, journal }: Allocator, plan: WorktreePlan): Promise<ErrorValue[]> {
  const left = await undoWorktree(git, plan);
  await journal.undone(plan, left);
  return left;
}

function failureOf(plan: WorktreePlan, stderr: string): LanesError {
  const reason = lastLine(stderr);
  if (/file ?name too long/i.test(stderr)) return lanesError('worktree_failed:long-path', { path: plan.path, reason });
  return lanesError('worktree_failed', { path: plan.path, reason });
}

/** The last complaint, which is the one that made git give up. */
function lastLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1) ?? '';
}

function withLeftovers(error: unknown, left: readonly ErrorValue[]): unknown {
  if (left.length === 0) return error;
  const value = error instanceof LanesError ? error.toValue() : toErrorValue(new Error(wordsOf(error)));
  return new LanesError(withDetail(value, left.map(({ message }) => `\n${message}`).join('')), { cause: error });
}

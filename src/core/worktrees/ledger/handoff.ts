/** The manifest of what a run hands over: made anew from what is known, written as a whole, refused when it contradicts itself. */
import { join } from 'node:path';
import {
  type ErrorValue,
  type HandoffChild,
  type HandoffManifest,
  handoffManifest,
  lanesError,
  type WorktreeCapture,
  type WorktreePlan,
  wordsOf,
} from '../../../protocol/index.ts';
import { errnoOf, readRegular, writeFileAtomic } from '../../files/index.ts';
import type { Removal } from '../remove.ts';

/** What is known of a child with a worktree when the manifest is written. */
export interface HandoffSource {
  plan: WorktreePlan;
  agent: string;
  key?: string | undefined;
  lane?: HandoffChild['lane'];
  status: string;
  output?: string | undefined;
  session?: string | undefined;
  /** `folder`: of the capture, relative to the folder of the run. */
  kept?: { capture: WorktreeCapture; folder: string } | undefined;
  /** Why it could not be kept. */
  error?: ErrorValue | undefined;
  removal?: Removal | undefined;
}

/** @param before what was written last: the run's beginning is taken from there */
export function makeHandoff(
  run: Pick<HandoffManifest, 'runId' | 'mode' | 'cwd'>,
  sources: readonly HandoffSource[],
  now: number,
  before?: HandoffManifest,
): HandoffManifest {
  const groups: HandoffManifest['groups'] = [];
  for (const source of [...sources].sort((a, b) => a.plan.child - b.plan.child)) {
    const { repository, base } = source.plan;
    let group = groups.find((one) => one.repository === repository && one.base === base);
    if (!group) {
      group = { repository, base, children: [] };
      groups.push(group);
    }
    group.children.push(childOf(source));
  }
  const manifest: HandoffManifest = {
    version: 1,
    runId: run.runId,
    mode: run.mode,
    cwd: run.cwd,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    groups,
  };
  const fault = handoffFault(manifest, run.runId);
  if (fault !== undefined) throw lanesError('handoff_invalid', { runId: run.runId, reason: fault });
  return manifest;
}

function childOf({
  plan,
  agent,
  key,
  lane,
  status,
  output,
  session,
  kept,
  error,
  removal,
}: HandoffSource): HandoffChild {
  const { path, folder, branch } = plan;
  const capture = kept?.capture;
  return {
    child: plan.child,
    agent,
    ...(key !== undefined && { key }),
    ...(lane !== undefined && { lane }),
    status,
    ...(output !== undefined && { output }),
    ...(session !== undefined && { session }),
    worktree: { path, folder, branch },
    changed: capture?.changed ?? null,
    commits: capture?.commits ?? 0,
    ...(capture?.kept && { kept: capture.kept }),
    ...(kept && capture?.patch && { patch: { ...capture.patch, path: join(kept.folder, capture.patch.path) } }),
    ...(capture && { outside: { files: capture.outside.files, bytes: capture.outside.bytes } }),
    ...(error && { error }),
    cleanup: {
      worktreeRemoved: removal?.worktreeRemoved ?? false,
      branchRemoved: removal?.branchRemoved ?? false,
      reasons: removal?.reasons ?? capture?.blockers ?? [],
    },
  };
}

/** What is wrong with a manifest in itself; `undefined`: nothing. */
export function handoffFault(manifest: HandoffManifest, runId: string): string | undefined {
  if (manifest.runId !== runId) return `it is that of run ${manifest.runId}`;
  const seen = new Set<string>();
  const groups = new Set<string>();
  for (const { repository, base, children } of manifest.groups) {
    if (groups.has(`${repository}\n${base}`)) return `two groups start from ${base}`;
    groups.add(`${repository}\n${base}`);
    if (children.length === 0) return `the group from ${base} has no child`;
    for (const { child, key, lane, worktree } of children) {
      if (lane && lane.key !== key) return `child ${child} has the key "${key ?? ''}" and the lane "${lane.key}"`;
      const names = [`child ${child}`, ...(key === undefined ? [] : [`key "${key}"`]), `path ${worktree.path}`];
      for (const name of names) {
        if (seen.has(name)) return `${name} stands in it twice`;
        seen.add(name);
      }
    }
  }
  return undefined;
}

/** Writes it durably. Only the runner of the run does. Throws what the system says. */
export async function writeHandoff(path: string, manifest: HandoffManifest): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** `undefined`: there is none. Throws `handoff_invalid` for one that cannot be read, or is that of another run. */
export async function readHandoff(path: string, runId: string): Promise<HandoffManifest | undefined> {
  let reason: string | undefined;
  try {
    const manifest = handoffManifest.parse(JSON.parse(await readRegular(path)));
    reason = handoffFault(manifest, runId);
    if (reason === undefined) return manifest;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    reason = wordsOf(error);
  }
  throw lanesError('handoff_invalid', { runId, reason });
}

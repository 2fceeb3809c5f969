/** Bringing the work of a lane home: a forecast, all of it or none, and the way back; or a branch of it. */
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkoutOf, takeCheckout } from '../core/checkouts/index.ts';
import { discard } from '../core/files/index.ts';
import {
  type AtStep,
  branchOfCapture,
  type ForecastFile,
  forecast,
  type KeptCapture,
  type LaneConflict,
  type LaneWork,
  laneConflicts,
  listApplications,
  type NewBranch,
  type Outcome,
  readCapture,
  settleApplications,
  undoApplication,
  type WorktreeId,
  writeApplication,
} from '../core/worktrees/index.ts';
import { lanesError, type WorkApplication, type WorktreePlan } from '../protocol/index.ts';
import type { WorktreeDoor } from './worktree-door.ts';

export interface WorkForecast {
  /** Top folder of the checkout it would come into. */
  root: string;
  base: string;
  files: ForecastFile[];
  /** Files that no commit has: they are kept, and do not come along. */
  outside: number;
}

export interface BringOptions {
  /** A folder in the checkout it comes into. */
  cwd: string;
  /** Files, or folders with all below, relative to the top folder; absent: all. */
  files?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
  atStep?: AtStep;
}

export interface AppliedWork extends WorkForecast {
  /** Of what was applied, to take it back; null: all of it was there already. */
  id: string | null;
}

/** What would come of it. Throws `apply_refused`; nothing is changed. */
export async function forecastWork(door: WorktreeDoor, id: WorktreeId, options: BringOptions): Promise<WorkForecast> {
  const work = await workOf(door, id);
  const root = await targetOf(door, work.plan, options.cwd);
  return lookAhead(door, work, root, options, async (_outcomes, found) => found);
}

/**
 * Applies all of it, or what was chosen, and nothing when one file contradicts what is here. The index is not touched. Throws
 * `apply_refused`, `checkout_in_use` when an agent works in that checkout.
 */
export async function applyWork(door: WorktreeDoor, id: WorktreeId, options: BringOptions): Promise<AppliedWork> {
  const work = await workOf(door, id);
  const root = await targetOf(door, work.plan, options.cwd);
  const folder = door.store.layout.applications;
  return alone(door, root, async () => {
    await settleApplications(folder, root);
    return lookAhead(door, work, root, options, async (outcomes, found) => {
      const conflicts = outcomes.filter(({ outcome }) => outcome === 'conflict');
      if (conflicts.length > 0) {
        throw lanesError('apply_refused:conflict', {
          count: conflicts.length,
          files: listed(conflicts.map(({ path }) => path)),
        });
      }
      if (outcomes.every(({ body }) => body === undefined)) return { ...found, id: null };
      const steps = options.atStep ? { atStep: options.atStep } : {};
      const written = await writeApplication(folder, root, id, outcomes, steps);
      return { ...found, id: written.id };
    });
  });
}

/** Takes back what was applied last in a checkout, or the one that is named. Throws `apply_refused`. */
export async function undoWork(
  door: WorktreeDoor,
  options: { cwd: string; id?: string | undefined; atStep?: AtStep },
): Promise<WorkApplication> {
  const root = await checkoutOf(options.cwd);
  const nothing = lanesError('apply_refused:nothing-to-undo', { folder: root ?? options.cwd });
  if (root === undefined) throw nothing;
  const folder = door.store.layout.applications;
  return alone(door, root, async () => {
    await settleApplications(folder, root);
    const applied = (await listApplications(folder, root)).filter(({ state }) => state === 'applied');
    const wanted = options.id === undefined ? applied[0] : applied.find(({ id }) => id === options.id);
    if (!wanted) throw nothing;
    return undoApplication(folder, wanted, options.atStep);
  });
}

/** A branch with the work, without a checkout. Throws `apply_refused`. */
export async function branchOfWork(door: WorktreeDoor, id: WorktreeId, name: string): Promise<NewBranch> {
  const { plan, kept } = await workOf(door, id);
  return branchOfCapture(door.git, door.lockOf(plan.repository), plan, kept, name);
}

/** Which worktrees of a run contradict each other, in the repository of each. Those that are not kept yet are left out. */
export async function conflictsOfRun(door: WorktreeDoor, runId: string): Promise<LaneConflict[]> {
  const { view } = await door.store.read(runId);
  const byRepository = new Map<string, LaneWork[]>();
  for (const { id, entry } of await door.ledger.list()) {
    if (id.runId !== runId || !entry || !('capture' in entry)) continue;
    const kept = await readCapture(entry.capture);
    if (!kept?.capture.kept) continue;
    const name = view?.children.find(({ index }) => index === id.child)?.key ?? String(id.child);
    const { base, tree } = kept.capture;
    const { repository } = entry.plan;
    byRepository.set(repository, [...(byRepository.get(repository) ?? []), { name, base, tree }]);
  }
  const rows: LaneConflict[] = [];
  for (const [repository, lanes] of byRepository) rows.push(...(await laneConflicts(door.git, repository, lanes)));
  return rows;
}

interface Work {
  plan: WorktreePlan;
  kept: KeptCapture;
}

async function workOf(door: WorktreeDoor, { runId, child }: WorktreeId): Promise<Work> {
  const entry = await door.ledger.read({ runId, child });
  if (!entry) throw lanesError('worktree_ledger_missing', { runId, child });
  const kept = 'capture' in entry ? await readCapture(entry.capture) : undefined;
  if (!kept) throw lanesError('apply_refused:uncaptured', { runId, child });
  return { plan: entry.plan, kept };
}

/** The checkout that is meant, when it is one of the same repository. */
async function targetOf({ git }: WorktreeDoor, plan: WorktreePlan, cwd: string): Promise<string> {
  const root = await checkoutOf(cwd);
  const common = root && (await git.lineIfAny(root, ['rev-parse', '--git-common-dir']));
  const own = root && common ? await realpath(resolve(root, common)) : undefined;
  if (!root || own !== plan.repository) {
    throw lanesError('apply_refused:repository', { folder: cwd, repository: plan.repository });
  }
  if (root === plan.path) throw lanesError('apply_refused:itself', { folder: root });
  return root;
}

async function alone<T>(door: WorktreeDoor, root: string, work: () => Promise<T>): Promise<T> {
  const lock = await takeCheckout(root, {
    locks: door.root.checkouts,
    purpose: 'bringing work home',
    wait: false,
    signal: new AbortController().signal,
    onWait: async () => undefined,
  });
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function lookAhead<T>(
  door: WorktreeDoor,
  { kept }: Work,
  root: string,
  { files, signal }: BringOptions,
  use: (outcomes: readonly Outcome[], found: WorkForecast) => Promise<T>,
): Promise<T> {
  const { base, tree, outside } = kept.capture;
  const scratch = await mkdtemp(join(tmpdir(), 'pi-lanes-home-'));
  try {
    const { outcomes, unknown } = await forecast(door.git, { root, base, tree, files, scratch, signal });
    if (unknown.length > 0) throw lanesError('apply_refused:unknown', { files: listed(unknown) });
    const shown = outcomes.map(({ bytesOfPath: _, body: __, ...file }): ForecastFile => file);
    return await use(outcomes, { root, base, files: shown, outside: outside.files });
  } finally {
    await discard(scratch);
  }
}

const SHOWN = 5;

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(', ')}${more > 0 ? ` (+${more})` : ''}`;
}

/** Every worktree of a project by repository, with what a person wants to know before deciding about it. Nothing is changed. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Git, listWorktrees, type RegisteredWorktree } from '../core/git/index.ts';
import {
  BRANCH_PREFIX,
  countChanged,
  givenUp,
  glanceCapture,
  Ledger,
  type LedgerRow,
  lastMoved,
  sizeOf,
  standingsOf,
} from '../core/worktrees/index.ts';
import {
  type Eligibility,
  type ErrorValue,
  LanesError,
  type LedgerEntry,
  type RunState,
  toErrorValue,
  type WorktreeCapture,
} from '../protocol/index.ts';
import { laneStatus } from './lanes.ts';
import { OneLook } from './one-look.ts';
import type { RunStore } from './run-store.ts';
import { isFolder, reasonsOf } from './worktree-facts.ts';

/** The run and the child that a worktree was made for. */
export interface WorktreeOwnerView {
  runId: string;
  child: number;
  state: RunState;
  agent: string | null;
  key: string | null;
  label: string | null;
}

export interface WorktreeOverview {
  /**
   * `main`: the checkout of the person; `foreign`: a worktree of the person; `unknown`: on a branch of ours, and nobody has written down that
   * it was made. None of these three is ever touched. `unreadable`: the ledger cannot be read.
   */
  kind: 'lane' | 'main' | 'foreign' | 'unknown' | 'unreadable';
  /** In the ledger; null: it is not ours. */
  state: LedgerEntry['state'] | null;
  path: string | null;
  branch: string | null;
  /** The commit it was made from. */
  base: string | null;
  head: string | null;
  /** Commits that it has and the main checkout has not, and the other way round; null: not known. */
  ahead: number | null;
  behind: number | null;
  /** Files that are not as they are in the base; null: not known. */
  changed: number | null;
  present: boolean | null;
  locked: string | null;
  owner: WorktreeOwnerView | null;
  lane: string | null;
  eligibility: Eligibility | null;
  /** It was removed, and its files are still being deleted. */
  clearing: boolean;
  /** Only where sizes were asked for. */
  size: { files: number; bytes: number } | null;
  /** Epoch milliseconds; null: not known. */
  lastActivity: number | null;
  /** Why it stays, or what is left of it. */
  reasons: ErrorValue[];
}

export interface RepositoryOverview {
  /** The git common folder. */
  repository: string;
  title: string;
  worktrees: WorktreeOverview[];
  /** Why git could not be asked; what the ledger says stands there all the same. */
  fault: ErrorValue | null;
}

export interface OverviewOptions {
  /** Folder of a repository that is shown although nothing was made in it. */
  folder?: string;
  /** Walks all files of each worktree. */
  sizes?: boolean;
  git?: Git;
}

/** How many are looked at by git or walked at the same time. */
const AT_ONCE = 4;

export async function readOverview(store: RunStore, options: OverviewOptions = {}): Promise<RepositoryOverview[]> {
  const rows = await new Ledger(store.layout.worktrees).list();
  const git = options.git ?? (await Git.find({ cwd: anywhere }).catch(toErrorValue));
  const groups = new Map<string, LedgerRow[]>();
  for (const row of rows) {
    const repository = row.entry?.plan.repository ?? '';
    groups.set(repository, [...(groups.get(repository) ?? []), row]);
  }
  if (options.folder !== undefined && git instanceof Git) {
    const common = await commonFolder(git, options.folder);
    if (common !== undefined && !groups.has(common)) groups.set(common, []);
  }
  const look = new OneLook(store.layout);
  const shown: RepositoryOverview[] = [];
  for (const [repository, own] of groups) shown.push(await overviewOf(look, git, repository, own, options));
  return shown;
}

const anywhere = process.platform === 'win32' ? 'C:\\' : '/';

/** `undefined`: the folder is in no repository, or git refuses it. */
async function commonFolder(git: Git, folder: string): Promise<string | undefined> {
  try {
    const common = await git.lineIfAny(folder, ['rev-parse', '--git-common-dir']);
    return common === undefined ? undefined : await realpath(resolve(folder, common));
  } catch {
    return undefined;
  }
}

async function overviewOf(
  look: OneLook,
  git: Git | ErrorValue,
  repository: string,
  rows: readonly LedgerRow[],
  options: OverviewOptions,
): Promise<RepositoryOverview> {
  const title = basename(repository) === '.git' ? basename(dirname(repository)) : basename(repository);
  const asked = await registeredIn(git, repository);
  const registered = new Map(asked.found.map((one) => [one.path, one]));
  const worktrees = await inTurn(rows, (row) => ownOf(look, row, registered, git, options));
  const known = new Set(rows.flatMap(({ entry }) => (entry && isThere(entry) ? [entry.plan.path] : [])));
  const others = asked.found.filter(({ path }) => !known.has(path)).map((one) => foreignOf(one, asked.found[0]));
  const target = asked.found[0]?.head;
  const all = [...worktrees, ...others];
  if (git instanceof Git && target !== undefined) {
    const heads = all.flatMap(({ head }) => (head === null ? [] : [head]));
    const standings = await standingsOf(git, repository, target, heads).catch(() => undefined);
    for (const one of all) Object.assign(one, one.head === null ? {} : standings?.get(one.head));
  }
  return { repository, title, worktrees: all, fault: asked.fault };
}

async function registeredIn(
  git: Git | ErrorValue,
  repository: string,
): Promise<{ found: RegisteredWorktree[]; fault: ErrorValue | null }> {
  if (!(git instanceof Git)) return { found: [], fault: git };
  if (repository === '') return { found: [], fault: null };
  try {
    return { found: await listWorktrees(git, repository), fault: null };
  } catch (error) {
    return { found: [], fault: toErrorValue(error) };
  }
}

/** Whether there may be something at its path that is its own. */
function isThere({ state }: LedgerEntry): boolean {
  return state !== 'removed' && state !== 'undone';
}

const BLANK: WorktreeOverview = {
  kind: 'lane',
  state: null,
  path: null,
  branch: null,
  base: null,
  head: null,
  ahead: null,
  behind: null,
  changed: null,
  present: null,
  locked: null,
  owner: null,
  lane: null,
  eligibility: null,
  clearing: false,
  size: null,
  lastActivity: null,
  reasons: [],
};

function foreignOf(one: RegisteredWorktree, main: RegisteredWorktree | undefined): WorktreeOverview {
  const isOurs = one.branch?.startsWith(`refs/heads/${BRANCH_PREFIX}`) ?? false;
  return {
    ...BLANK,
    kind: one === main ? 'main' : isOurs ? 'unknown' : 'foreign',
    path: one.path,
    branch: one.branch?.replace(/^refs\/heads\//, '') ?? null,
    head: one.head ?? null,
    present: !one.prunable,
    locked: one.locked ?? null,
  };
}

async function ownOf(
  look: OneLook,
  { id, entry, fault }: LedgerRow,
  registered: ReadonlyMap<string, RegisteredWorktree>,
  git: Git | ErrorValue,
  options: OverviewOptions,
): Promise<WorktreeOverview> {
  const { runId, child } = id;
  const owner = await ownerOf(look, runId, child);
  const own: WorktreeOverview = { ...BLANK, owner: owner.view, lane: owner.lane, eligibility: owner.eligibility };
  if (!entry)
    return { ...own, kind: 'unreadable', reasons: fault === undefined ? [] : [toErrorValue(new Error(fault))] };
  const { path, branch, base } = entry.plan;
  const capture = 'capture' in entry ? await glanceCapture(entry.capture) : undefined;
  const there = isThere(entry);
  const at = there ? registered.get(path) : undefined;
  const present = await isFolder(path);
  const looks = there && present === true;
  return {
    ...own,
    state: entry.state,
    path,
    branch,
    base,
    head: at?.head ?? capture?.head ?? null,
    changed: await changedIn(git, entry, capture, looks),
    present,
    locked: at?.locked ?? null,
    clearing: !there && (await givenUp(entry.plan).catch(() => [])).length > 0,
    size: options.sizes && looks ? await sizeOf(path).catch(() => null) : null,
    lastActivity: await activityOf(entry),
    reasons: reasonsOf(entry, capture),
  };
}

async function changedIn(
  git: Git | ErrorValue,
  entry: LedgerEntry,
  capture: WorktreeCapture | undefined,
  looks: boolean,
): Promise<number | null> {
  if (capture) return capture.patch?.files ?? 0;
  if (entry.state !== 'made' || !looks || !(git instanceof Git)) return null;
  return countChanged(git, entry.plan).catch(() => null);
}

async function activityOf(entry: LedgerEntry): Promise<number> {
  const moved = 'gitFolder' in entry.plan && isThere(entry) ? await lastMoved(entry.plan.gitFolder) : 0;
  const touched = await stat(entry.plan.path).then(
    (info) => info.mtimeMs,
    () => 0,
  );
  return Math.max(entry.changedAt, moved, isThere(entry) ? touched : 0);
}

async function ownerOf(
  look: OneLook,
  runId: string,
  index: number,
): Promise<{ view: WorktreeOwnerView | null; lane: string | null; eligibility: Eligibility | null }> {
  try {
    const { state, view } = await look.read(runId);
    const child = view?.children.find((one) => one.index === index);
    const { eligibility } = await laneStatus(look, runId);
    const { agent = null, key = null, label = null } = child ?? {};
    return {
      view: { runId, child: index, state, agent, key, label },
      lane: child?.lane?.key ?? key,
      eligibility,
    };
  } catch (error) {
    if (!(error instanceof LanesError)) throw error;
    return {
      view: { runId, child: index, state: 'unknown', agent: null, key: null, label: null },
      lane: null,
      eligibility: null,
    };
  }
}

/** The answers in the order of the questions, a few at a time. */
async function inTurn<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [at, item] of left) answers[at] = await ask(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers;
}

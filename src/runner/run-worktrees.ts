/** The worktrees of the children of a run: made before a child starts, kept when it has ended, put in order after a death. */
import { basename, join } from 'node:path';
import { makePrivateFolder, readRegular, whenThereIsRoom } from '../core/files/index.ts';
import { folderLock, Git, RepositoryLock } from '../core/git/index.ts';
import { childLayout, rootLayout } from '../core/projects/index.ts';
import { digestOf, readStored } from '../core/runs/index.ts';
import {
  type Allocator,
  allocateWorktrees,
  captureWorktree,
  checkSources,
  identityFault,
  Ledger,
  provisionWorktree,
  settlePlan,
  takeBack,
  type WorktreeJournal,
  type WorktreeSource,
  withLedger,
} from '../core/worktrees/index.ts';
import {
  type ErrorValue,
  LanesError,
  lanesError,
  type StoredFile,
  toErrorValue,
  type WorktreePlan,
  type WorktreeRecord,
  type WorktreeView,
  type WorktreeWish,
  wordsOf,
  worktreeRecord,
} from '../protocol/index.ts';
import { handOver } from './hand-over.ts';
import { clipError, type OpenRun } from './open-run.ts';
import { proceeded } from './proceeded.ts';

/** A child that needs a worktree of its own. */
export interface Isolated {
  /** What it is called in refusals. */
  key: string;
  /** Existing folder of the checkout it is launched from. */
  cwd: string;
  wish: WorktreeWish;
}

/** Whose worktree a child goes on in. */
export interface WorktreeOwner {
  runId: string;
  child: number;
}

/** As many faults fit into a line of the journal; the capture has all of them. */
const FAULTS = 5;

export class RunWorktrees {
  readonly #run: OpenRun;
  readonly #locks = new Map<string, RepositoryLock>();
  readonly #ledger: Ledger;
  #git: Promise<Git> | undefined;

  constructor(run: OpenRun) {
    this.#run = run;
    this.#ledger = new Ledger(run.project.worktrees);
  }

  /**
   * Checks all of a group before any of it starts, and finds what each starts from. Nothing is changed. Throws
   * `worktree_refused` naming those it is about.
   */
  async check(group: readonly Isolated[], signal?: AbortSignal): Promise<WorktreeSource[]> {
    const git = await this.#findGit();
    const { folder, refused, setupHook } = this.#settings;
    const sources = new Map<Isolated, WorktreeSource>();
    for (const baseRef of new Set(group.map(({ wish }) => wish.baseRef))) {
      const alike = group.filter(({ wish }) => wish.baseRef === baseRef);
      const options = { baseRef, folder, refused: refused ?? [], setupHook: setupHook?.path, signal };
      const found = await checkSources(git, alike, options);
      for (const [index, source] of found.entries()) {
        const one = alike[index];
        if (one) sources.set(one, source);
      }
    }
    return group.flatMap((one) => sources.get(one) ?? []);
  }

  /**
   * Makes the worktree of a child, or gives the one that was made for it.
   * @param label what its branch is named after
   */
  async make(
    child: { index: number; label: string; agent: string },
    source: () => Promise<WorktreeSource>,
    signal: AbortSignal,
  ): Promise<WorktreeRecord> {
    const { index, label, agent } = child;
    const view = this.#view(index);
    if (view && view.state !== 'undone') return this.#again(view, agent, signal);
    const from = await source();
    const allocator = await this.#allocator(from.repository, agent);
    const request = { source: from, runId: this.#run.record.runId, child: index, label };
    const [record] = await allocateWorktrees(allocator, [request], signal);
    if (!record) throw new Error('a request was not carried out');
    return record;
  }

  /** Takes a child into the worktree of an earlier one. Throws `worktree_lost` when it is not there any more. */
  async join(index: number, of: WorktreeOwner): Promise<WorktreeRecord> {
    const run = this.#run;
    const view = this.#view(index);
    if (view) return this.#present(await this.#recorded(view));
    const directory = of.runId === run.record.runId ? run.layout.directory : join(run.project.runs, basename(of.runId));
    const path = childLayout(directory, of.child).worktreeRecord;
    const text = await readRegular(path).catch((error: unknown) => {
      throw lanesError('run_unreadable:body', { file: path, reason: wordsOf(error) }, { cause: error });
    });
    const record = await this.#present(worktreeRecord.parse(JSON.parse(text)));
    await this.#ledger.noted(record);
    await this.#ledger.join(record, { runId: run.record.runId, child: index });
    const { path: top, folder, branch, base } = record;
    // Before anything lies in the child's folder: a run in which something was begun must be known to have been confirmed.
    const confirmed = proceeded(run);
    if (confirmed.length > 0) await run.append(...confirmed);
    await run.append({
      type: 'worktree.joined',
      child: index,
      of,
      path: top,
      folder,
      branch,
      base,
      record: await this.#store(index, record),
    });
    return record;
  }

  /** Whether there is a worktree of which not everything is known to be kept. */
  mustCapture(index: number): boolean {
    const state = this.#view(index)?.state;
    return state === 'made' || state === 'ready' || state === 'capture-failed';
  }

  /** Keeps what is in the worktree of a child that has ended. What cannot be kept stays in it, and is said. Never rejects. */
  async capture(index: number): Promise<void> {
    const run = this.#run;
    const view = this.#view(index);
    if (!view || !this.mustCapture(index)) return;
    try {
      const record = await this.#recorded(view);
      const git = await this.#findGit();
      const lock = this.#lock(record.repository);
      const { worktree: folder } = await run.childFolder(index);
      const kept = await whenThereIsRoom(() => captureWorktree(folder, record, { git, lock }));
      await this.#ledger.noted(record);
      await this.#ledger.captured(record, kept.folder);
      const { changed, commits, patch, outside, blockers } = kept.capture;
      const { files = 0, insertions = 0, deletions = 0 } = patch ?? {};
      await run.append({
        type: 'worktree.captured',
        child: index,
        capture: await this.#named(join(kept.folder, 'capture.json')),
        changed,
        commits,
        files,
        insertions,
        deletions,
        outside: outside.files,
        blockers: clipped(blockers),
        blocked: blockers.length,
      });
    } catch (error) {
      await run.append({ type: 'worktree.capture.failed', child: index, error: clipError(toErrorValue(error)) });
    }
    await handOver(run);
  }

  /** All that an earlier runner has left open or did not come to. */
  async captureAll(): Promise<void> {
    for (const { index } of this.#run.view.children) await this.capture(index);
  }

  /**
   * After a death: what was planned is taken over when it is there as planned, else taken back; what was being made ready is
   * taken back, because nobody knows how far that was. In neither has a child begun.
   */
  async settle(): Promise<void> {
    for (const { index, worktree } of this.#run.view.children) {
      if (worktree?.state !== 'planned' && worktree?.state !== 'made') continue;
      const plan = this.#planOf(index);
      if (!plan) continue;
      try {
        const allocator = await this.#allocator(plan.repository);
        if (worktree.state === 'planned') await settlePlan(allocator, plan);
        else await takeBack(allocator, plan);
      } catch (error) {
        // The child gets another one; of this one it is said that it was left.
        await this.#journal.undone(plan, [toErrorValue(error)]);
      }
    }
  }

  // ---- one worktree

  /** The one that was made by an earlier runner. */
  async #again(view: WorktreeView, agent: string, signal: AbortSignal): Promise<WorktreeRecord> {
    const record = await this.#present(await this.#recorded(view));
    await this.#ledger.noted(record);
    if (view.state !== 'made') return record;
    const { provision, journal } = await this.#allocator(record.repository, agent);
    const full = (await provision?.(record, signal)) ?? record;
    await journal.provisioned(full);
    return full;
  }

  async #present(record: WorktreeRecord): Promise<WorktreeRecord> {
    const fault = await identityFault(record);
    if (fault) throw new LanesError(fault);
    return record;
  }

  #view(index: number): WorktreeView | undefined {
    return this.#run.child(index)?.worktree;
  }

  #planOf(index: number): WorktreePlan | undefined {
    const line = this.#run.earlier.findLast((one) => one.type === 'worktree.planned' && one.child === index);
    return line?.type === 'worktree.planned' ? line.plan : undefined;
  }

  async #recorded({ record, path }: WorktreeView): Promise<WorktreeRecord> {
    if (!record) throw lanesError('worktree_lost', { path, reason: 'it was never made' });
    return worktreeRecord.parse(JSON.parse(await readStored(this.#run.layout.directory, record)));
  }

  // ---- what all of them need

  get #settings() {
    return this.#run.record.worktrees ?? {};
  }

  #findGit(): Promise<Git> {
    this.#git ??= Git.find({ cwd: this.#run.layout.directory });
    // Somebody waits for it, perhaps later.
    this.#git.catch(() => undefined);
    return this.#git;
  }

  /** One for each repository: it puts the changes of this process in the order they came. */
  #lock(repository: string): RepositoryLock {
    const { repositories } = rootLayout(this.#run.record.agentDir);
    const known = this.#locks.get(repository) ?? new RepositoryLock(folderLock(repositories, repository));
    this.#locks.set(repository, known);
    return known;
  }

  async #allocator(repository: string, agent?: string): Promise<Required<Pick<Allocator, 'provision'>> & Allocator> {
    const git = await this.#findGit();
    const { copies, links, setupHook } = this.#settings;
    const provisions = {
      ...(copies ? { copies } : {}),
      ...(links ? { links } : {}),
      setupHook: setupHook && { path: setupHook.path, timeoutMs: setupHook.timeoutMs },
      agent,
    };
    return {
      git,
      lock: this.#lock(repository),
      journal: withLedger(this.#journal, this.#ledger),
      provision: (record, signal) => provisionWorktree(git, record, provisions, signal),
    };
  }

  readonly #journal: WorktreeJournal = {
    planned: (plan) => this.#run.append(...proceeded(this.#run), { type: 'worktree.planned', child: plan.child, plan }),
    made: (record) => this.#fact('worktree.made', record),
    provisioned: (record) => this.#fact('worktree.provisioned', record),
    undone: ({ child, path, branch }, left) =>
      this.#run.append({ type: 'worktree.undone', child, path, branch, left: clipped(left) }),
  };

  async #fact(type: 'worktree.made' | 'worktree.provisioned', record: WorktreeRecord): Promise<void> {
    const { child, warnings } = record;
    const stored = await this.#store(child, record);
    await this.#run.append({ type, child, record: stored, warnings: clipped(warnings) });
  }

  async #store(index: number, record: WorktreeRecord): Promise<StoredFile> {
    const { worktree, worktreeRecord: path } = await this.#run.childFolder(index);
    await whenThereIsRoom(() => makePrivateFolder(worktree));
    return this.#run.store(path, `${JSON.stringify(record)}\n`);
  }

  /** How an event names a body that is durable already. */
  async #named(path: string): Promise<StoredFile> {
    const text = await readRegular(path);
    const file = path.slice(this.#run.layout.directory.length + 1).replaceAll('\\', '/');
    return { file, bytes: Buffer.byteLength(text), sha256: digestOf(text) };
  }
}

function clipped(faults: readonly ErrorValue[]): ErrorValue[] {
  return faults.slice(0, FAULTS).map(clipError);
}

/** A repository with what is needed to make worktrees of it, and a journal that remembers what it was told. */
import { join } from 'node:path';
import { Git, RepositoryLock } from '../../src/core/git/index.ts';
import {
  type Allocator,
  allocateWorktrees,
  captureWorktree,
  checkSources,
  type KeptCapture,
  removeWorktree,
  type SourceOptions,
} from '../../src/core/worktrees/index.ts';
import type { ErrorValue, WorktreePlan, WorktreeRecord } from '../../src/protocol/index.ts';
import { type Files, makeRepository } from './repository.ts';

export const RUN = '01890a5d-ac96-774b-bcce-b302099a8057';

export type Told =
  | { planned: WorktreePlan }
  | { made: WorktreeRecord }
  | { provisioned: WorktreeRecord }
  | { undone: WorktreePlan; left: readonly ErrorValue[] };

export class Bench implements Allocator {
  readonly told: Told[] = [];
  readonly path: string;
  readonly git: Git;
  readonly lock: RepositoryLock;
  /** Folder for captures and locks. */
  readonly store: string;
  provision?: Allocator['provision'];
  readonly journal = {
    planned: async (plan: WorktreePlan) => void this.told.push({ planned: plan }),
    made: async (record: WorktreeRecord) => void this.told.push({ made: record }),
    provisioned: async (record: WorktreeRecord) => void this.told.push({ provisioned: record }),
    undone: async (plan: WorktreePlan, left: readonly ErrorValue[]) => void this.told.push({ undone: plan, left }),
  };

  private constructor(path: string, store: string, git: Git) {
    this.path = path;
    this.store = store;
    this.git = git;
    this.lock = new RepositoryLock(join(store, 'repository'));
  }

  /** @param path of the repository, which is made unless `files` is null */
  static async make(path: string, store: string, files?: Files | null): Promise<Bench> {
    if (files !== null) await makeRepository(path, files);
    return new Bench(path, store, await Git.find({ cwd: store }));
  }

  /** The same with another git. */
  async withGit(file: string): Promise<Allocator> {
    return { git: await Git.find({ file, cwd: this.store }), lock: this.lock, journal: this.journal };
  }

  async allocate(
    labels: readonly string[],
    options: SourceOptions & { cwd?: string; allocator?: Allocator; signal?: AbortSignal } = {},
  ): Promise<WorktreeRecord[]> {
    const { cwd = this.path, allocator = this, signal } = options;
    const sources = await checkSources(
      this.git,
      labels.map((key) => ({ key, cwd })),
      options,
    );
    const requests = sources.map((source, n) => ({ source, runId: RUN, child: n + 1, label: labels[n] ?? '' }));
    return allocateWorktrees(allocator, requests, signal);
  }

  /** One worktree. */
  async one(options: SourceOptions & { cwd?: string; allocator?: Allocator } = {}): Promise<WorktreeRecord> {
    const [record] = await this.allocate(['fix'], options);
    if (!record) throw new Error('no worktree');
    return record;
  }

  capture(
    record: WorktreeRecord,
    options: { maxOutsideBytes?: number; disposable?: string[] } = {},
  ): Promise<KeptCapture> {
    return captureWorktree(this.capturesOf(record), record, { git: this.git, lock: this.lock, ...options });
  }

  remove(record: WorktreeRecord, kept: KeptCapture) {
    return removeWorktree(record, kept, { git: this.git, lock: this.lock });
  }

  capturesOf(record: WorktreeRecord): string {
    return join(this.store, 'captures', String(record.child));
  }
}

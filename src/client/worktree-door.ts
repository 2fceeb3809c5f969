/** What clients need to change the worktrees of a project: git, the locks of repositories, the ledger. */
import { folderLock, Git, RepositoryLock } from '../core/git/index.ts';
import type { RootLayout } from '../core/projects/index.ts';
import { Ledger } from '../core/worktrees/index.ts';
import type { RunStore } from './run-store.ts';

export class WorktreeDoor {
  readonly store: RunStore;
  readonly git: Git;
  readonly ledger: Ledger;
  readonly root: RootLayout;
  readonly #locks = new Map<string, RepositoryLock>();

  private constructor(store: RunStore, git: Git, root: RootLayout) {
    this.store = store;
    this.git = git;
    this.ledger = new Ledger(store.layout.worktrees);
    this.root = root;
  }

  /** Throws `git_unusable`. */
  static async open(store: RunStore, root: RootLayout): Promise<WorktreeDoor> {
    const git = await Git.find({ cwd: process.platform === 'win32' ? 'C:\\' : '/' });
    return new WorktreeDoor(store, git, root);
  }

  /** The same that runners take. */
  lockOf(repository: string): RepositoryLock {
    const known = this.#locks.get(repository) ?? new RepositoryLock(folderLock(this.root.repositories, repository));
    this.#locks.set(repository, known);
    return known;
  }
}

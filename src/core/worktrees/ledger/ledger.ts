/**
 * The ledger: one file for each worktree of a repository, outside of the runs, so that a worktree is known as long as there is
 * anything of it. Every process changes an entry under its lock; a reader needs none.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type LedgerEntry,
  lanesError,
  ledgerEntry,
  RUN_ID,
  type WorktreePlan,
  type WorktreeRecord,
  type WorktreeUser,
  wordsOf,
} from '../../../protocol/index.ts';
import { errnoOf, makePrivateFolder, readRegular, writeFileAtomic } from '../../files/index.ts';
import { waitForLock } from '../../locks/index.ts';
import type { WorktreeJournal } from '../allocate.ts';
import { sameUser } from './users.ts';

/** Milliseconds another process may hold an entry: it writes one small file meanwhile. */
const LOCK_MS = 10_000;

/** Whose worktree: the run and the child it was made for. */
export type WorktreeId = WorktreeUser;

export interface LedgerRow {
  id: WorktreeId;
  /** Absent: it cannot be read, for the reason in `fault`. It still stands for a worktree. */
  entry?: LedgerEntry;
  fault?: string;
}

export class Ledger {
  readonly #directory: string;
  readonly #now: () => number;

  /** @param directory `worktrees` of the project */
  constructor(directory: string, now: () => number = Date.now) {
    this.#directory = directory;
    this.#now = now;
  }

  /** `undefined`: there is none. Throws `worktree_ledger_unreadable` for one that cannot be read. */
  async read(id: WorktreeId): Promise<LedgerEntry | undefined> {
    const path = this.#pathOf(id);
    try {
      const entry = ledgerEntry.parse(JSON.parse(await readRegular(path)));
      const { runId, child } = entry.plan;
      if (runId !== id.runId || child !== id.child) throw new Error(`it is that of child ${child} of ${runId}`);
      return entry;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw lanesError('worktree_ledger_unreadable', { path, reason: wordsOf(error) }, { cause: error });
    }
  }

  /** All worktrees, in the order they were planned. Throws when the folder cannot be read. */
  async list(): Promise<LedgerRow[]> {
    const rows: LedgerRow[] = [];
    for (const runId of (await namesIn(this.#directory)).filter((name) => RUN_ID.test(name)).sort()) {
      const names = await namesIn(join(this.#directory, runId));
      const children = names.flatMap((name) => /^([1-9]\d*)\.json$/.exec(name)?.[1] ?? []).map(Number);
      for (const child of children.sort((a, b) => a - b)) rows.push(await this.#row({ runId, child }));
    }
    return rows;
  }

  async #row(id: WorktreeId): Promise<LedgerRow> {
    try {
      const entry = await this.read(id);
      return entry ? { id, entry } : { id, fault: 'it was removed meanwhile' };
    } catch (error) {
      return { id, fault: wordsOf(error) };
    }
  }

  /**
   * Replaces an entry durably by what `change` makes of it; what it throws changes nothing. Another process that changes the same
   * one waits. The same entry, unchanged, is not written again.
   */
  async update(
    id: WorktreeId,
    change: (entry: LedgerEntry | undefined) => DistributiveOmit<LedgerEntry, 'changedAt'>,
  ): Promise<LedgerEntry> {
    const path = this.#pathOf(id);
    await makePrivateFolder(this.#directory);
    await makePrivateFolder(join(this.#directory, id.runId));
    const purpose = `the ledger of child ${id.child} of ${id.runId}`;
    const lock = await waitForLock(path.replace(/\.json$/, ''), { purpose, deadlineMs: LOCK_MS });
    try {
      const entry = ledgerEntry.parse({ ...change(await this.read(id)), changedAt: this.#now() });
      await writeFileAtomic(path, `${JSON.stringify(entry, null, 2)}\n`);
      return entry;
    } finally {
      await lock.release();
    }
  }

  /** As `update`, for one that must be there. Throws `worktree_ledger_missing`. */
  change(
    id: WorktreeId,
    change: (entry: LedgerEntry) => DistributiveOmit<LedgerEntry, 'changedAt'>,
  ): Promise<LedgerEntry> {
    return this.update(id, (entry) => {
      if (!entry) throw lanesError('worktree_ledger_missing', { child: id.child, runId: id.runId });
      return change(entry);
    });
  }

  /**
   * Makes sure that one that is known to be there stands here as made: whoever wrote that down can have died before this. What is
   * known to be kept, or being removed, stays so.
   */
  async noted(record: WorktreeRecord): Promise<void> {
    const id = { runId: record.runId, child: record.child };
    const before = await this.read(id);
    if (before && before.state !== 'planned') return;
    await this.update(id, (entry) =>
      entry && entry.state !== 'planned'
        ? entry
        : { version: 1, state: 'made', plan: record, users: entry?.users ?? [id] },
    );
  }

  /** One more child goes on in it. Throws `worktree_in_removal` when it is being removed, or is gone. */
  join(id: WorktreeId, user: WorktreeUser): Promise<LedgerEntry> {
    return this.change(id, (entry) => {
      if (entry.state !== 'made' && entry.state !== 'captured') {
        throw lanesError('worktree_in_removal', { path: entry.plan.path });
      }
      const users = entry.users.some((one) => sameUser(one, user)) ? entry.users : [...entry.users, user];
      // What it does there is in no capture.
      return { version: 1, state: 'made', plan: entry.plan, users };
    });
  }

  /** Everything in it was kept. */
  captured(id: WorktreeId, capture: string): Promise<LedgerEntry> {
    return this.change(id, (entry) => {
      if (entry.state !== 'made' && entry.state !== 'captured' && entry.state !== 'removing') {
        throw lanesError('worktree_in_removal', { path: entry.plan.path });
      }
      const { plan, users } = entry;
      return { version: 1, state: 'captured', plan, users, capture };
    });
  }

  /** Folder of a run's entries. Throws `run_not_found` for what is no id: it must never lead out of the store. */
  directoryOf(runId: string): string {
    if (!RUN_ID.test(runId)) throw lanesError('run_not_found:id', { id: runId });
    return join(this.#directory, runId);
  }

  #pathOf({ runId, child }: WorktreeId): string {
    return join(this.directoryOf(runId), `${child}.json`);
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** The journal of a run whose worktrees also stand in the ledger: the intent there first, the fact there last. */
export function withLedger(journal: WorktreeJournal, ledger: Ledger): WorktreeJournal {
  const set = (plan: WorktreePlan, entry: DistributiveOmit<LedgerEntry, 'changedAt' | 'version' | 'users'>) => {
    const owner = { runId: plan.runId, child: plan.child };
    return ledger.update(owner, (before) => ({ version: 1, users: before?.users ?? [owner], ...entry }));
  };
  return {
    planned: async (plan) => {
      await set(plan, { state: 'planned', plan });
      await journal.planned(plan);
    },
    made: async (record) => {
      await journal.made(record);
      await set(record, { state: 'made', plan: record });
    },
    provisioned: async (record) => {
      await journal.provisioned(record);
      await set(record, { state: 'made', plan: record });
    },
    undone: async (plan, left) => {
      await journal.undone(plan, left);
      await set(plan, { state: 'undone', plan, left: [...left] });
    },
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw lanesError('worktree_ledger_unreadable', { path: folder, reason: wordsOf(error) }, { cause: error });
  }
}

/** The ledger remembers each worktree from its intent to its end, also across a death at every step in between. */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  continueRemoval,
  dropKeptRefs,
  keptRef,
  Ledger,
  type Liveness,
  liveUsers,
  mayDropRef,
  recoveryStep,
  removeTracked,
  settlePlan,
  withLedger,
} from '../../src/core/worktrees/index.ts';
import type { LedgerEntry, WorktreeRecord } from '../../src/protocol/index.ts';
import { git, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench, RUN } from '../support/worktrees.ts';

const OTHER = '01890a5d-ac96-774b-bcce-b302099a8058';
const ID = { runId: RUN, child: 1 };
const DAY_MS = 24 * 60 * 60_000;

let folder: TempDir;
let bench: Bench;
let ledger: Ledger;
let now: number;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'));
  now = 1000;
  ledger = new Ledger(at('store', 'worktrees'), () => now);
});

afterEach(() => folder.remove());

function allocator() {
  return { git: bench.git, lock: bench.lock, journal: withLedger(bench.journal, ledger) };
}

const make = () => bench.one({ allocator: allocator() });

/** A worktree with work in it that is kept. */
async function captured(): Promise<WorktreeRecord> {
  const tree = await make();
  await write(tree.path, { 'work.txt': 'work' });
  await ledger.captured(ID, (await bench.capture(tree)).folder);
  return tree;
}

interface Wishes {
  liveness?: Liveness;
  handOver?: () => Promise<void>;
}

const remove = ({ liveness = 'ended', handOver = async () => undefined }: Wishes = {}) =>
  removeTracked(ID, { git: bench.git, lock: bench.lock, ledger, livenessOf: async () => liveness, handOver });

const finish = async () => {
  const entry = await ledger.read(ID);
  if (entry?.state !== 'removing' && entry?.state !== 'removed') throw new Error(`it is ${entry?.state}`);
  return continueRemoval(ID, entry, { git: bench.git, lock: bench.lock, ledger });
};

/** As a process left it that died behind the intent to remove. */
const dieRemoving = () =>
  ledger.change(ID, (entry) => {
    if (entry.state !== 'captured') throw new Error(entry.state);
    return { ...entry, state: 'removing' };
  });

const stateOfEntry = async () => (await ledger.read(ID))?.state;
const stays = (text: string) => ({
  worktreeRemoved: false,
  branchRemoved: false,
  reasons: [expect.objectContaining({ text: `worktree_preserved:${text}` })],
});
const gone = { worktreeRemoved: true, branchRemoved: true, reasons: [] };

describe('from intent to fact', () => {
  it('run-123 the intent is there before git is asked, and before the journal has it; the fact follows', async () => {
    const seen: unknown[] = [];
    const journal = withLedger(
      {
        ...bench.journal,
        planned: async (plan) => {
          seen.push(await stateOfEntry(), existsSync(plan.path));
        },
        made: async () => void seen.push(await stateOfEntry()),
      },
      ledger,
    );
    const tree = await bench.one({ allocator: { ...allocator(), journal } });
    expect(seen).toEqual(['planned', false, 'planned']);
    expect(await ledger.read(ID)).toEqual({ version: 1, state: 'made', plan: tree, users: [ID], changedAt: 1000 });
    expect(await ledger.list()).toMatchObject([{ id: ID, entry: { state: 'made' } }]);
  });

  it('what was taken back is remembered as that', async () => {
    await write(at('repo', '.git', 'hooks'), {
      'post-checkout': { content: '#!/bin/sh\nrm -f a.txt\nexit 1\n', mode: 0o755 },
    });
    await expect(make()).rejects.toMatchObject({ code: 'worktree_failed' });
    expect(await ledger.read(ID)).toMatchObject({ state: 'undone', left: [] });
  });

  it('an entry that cannot be read still stands for a worktree, and is not written over', async () => {
    await make();
    const path = join(ledger.directoryOf(RUN), '1.json');
    await writeFile(path, '{"version":1');
    expect(await ledger.list()).toMatchObject([{ id: ID, fault: expect.any(String) }]);
    await expect(ledger.captured(ID, '/x')).rejects.toMatchObject({ code: 'worktree_ledger_unreadable' });
    await expect(ledger.read({ runId: '../..', child: 1 })).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it('changes of the same entry do not lose each other', async () => {
    await make();
    const users = Array.from({ length: 8 }, (_, n) => ({ runId: OTHER, child: n + 1 }));
    await Promise.all(users.map((user) => ledger.join(ID, user)));
    expect((await ledger.read(ID))?.users).toHaveLength(9);
  });
});

describe('who needs it', () => {
  it('counts everybody who is not proven to have ended, once', async () => {
    await make();
    await ledger.join(ID, { runId: OTHER, child: 2 });
    const entry = await ledger.join(ID, { runId: OTHER, child: 2 });
    expect(entry.users).toHaveLength(2);
    const states = new Map<string, Liveness>([
      [RUN, 'ended'],
      [OTHER, 'unknown'],
    ]);
    expect(await liveUsers(entry, async ({ runId }) => states.get(runId) ?? 'live')).toEqual([
      { runId: OTHER, child: 2 },
    ]);
  });

  it.each(['live', 'unknown'] as const)(
    'B01 run-134 stays while a user is %s, and is whole for it afterwards',
    async (liveness) => {
      const tree = await captured();
      expect(await remove({ liveness })).toEqual(stays('users'));
      expect(await stateOfEntry()).toBe('captured');
      await ledger.join(ID, { runId: OTHER, child: 1 });
      await write(tree.path, { 'late.txt': 'late' });
      expect(await remove()).toEqual(stays('uncaptured'));
      expect(existsSync(join(tree.path, 'late.txt'))).toBe(true);
    },
  );

  it('nobody joins what is being removed', async () => {
    await captured();
    await dieRemoving();
    await expect(ledger.join(ID, { runId: OTHER, child: 1 })).rejects.toMatchObject({ code: 'worktree_in_removal' });
  });

  it('when it cannot be told who lives, it stays', async () => {
    await captured();
    const livenessOf = () => Promise.reject(new Error('the store is gone'));
    const options = { git: bench.git, lock: bench.lock, ledger, livenessOf, handOver: async () => undefined };
    expect(await removeTracked(ID, options)).toEqual(stays('users'));
  });
});

describe('removal', () => {
  it('run-131 comes after the handoff was written; without it everything stays', async () => {
    const tree = await captured();
    expect(await remove({ handOver: () => Promise.reject(new Error('ENOSPC')) })).toEqual(stays('handoff'));
    expect(existsSync(tree.path)).toBe(true);
    let was: unknown;
    const handOver = async () => {
      was = [await stateOfEntry(), existsSync(tree.path)];
    };
    expect(await remove({ handOver })).toEqual(gone);
    expect(was).toEqual(['captured', true]);
    expect(await ledger.read(ID)).toMatchObject({ state: 'removed', branchRemoved: true });
  });

  it('run-130 what was never kept, or whose copy is damaged, stays', async () => {
    const tree = await make();
    expect(await remove()).toEqual(stays('uncaptured'));
    await write(tree.path, { 'work.txt': 'work' });
    const kept = await bench.capture(tree);
    await ledger.captured(ID, kept.folder);
    await writeFile(join(kept.folder, 'changes.patch'), 'damaged');
    expect(await remove()).toEqual(stays('copy'));
  });

  it('run-132 one that git refuses is captured again, not half removed', async () => {
    const tree = await captured();
    await git(bench.path, 'worktree', 'lock', tree.path);
    expect(await remove()).toEqual(stays('locked'));
    expect(await stateOfEntry()).toBe('captured');
    await git(bench.path, 'worktree', 'unlock', tree.path);
    expect(await remove()).toEqual(gone);
  });
});

describe('a death', () => {
  it('between intent and git leaves nothing to do but to drop the intent', async () => {
    const before = await stateOf(bench.path);
    const dead = withLedger({ ...bench.journal, planned: () => Promise.reject(new Error('killed')) }, ledger);
    await expect(bench.one({ allocator: { ...allocator(), journal: dead } })).rejects.toThrow('killed');
    const entry = await ledger.read(ID);
    if (entry?.state !== 'planned') throw new Error('no intent');
    expect(recoveryStep(entry, 'ended')).toBe('settle');
    expect(await settlePlan(allocator(), entry.plan)).toBeUndefined();
    expect(await ledger.read(ID)).toMatchObject({ state: 'undone', left: [] });
    expect(await stateOf(bench.path)).toEqual(before);
  });

  it('between git and the fact: what is there as planned is taken over', async () => {
    const tree = await make();
    const entry = await ledger.update(ID, (old) => {
      if (old?.state !== 'made') throw new Error('not made');
      const { gitFolder: _, madeAt: __, synthetic: ___, warnings: ____, ...plan } = old.plan;
      return { version: 1, state: 'planned', plan, users: old.users };
    });
    expect(recoveryStep(entry, 'ended')).toBe('settle');
    expect((await settlePlan(allocator(), entry.plan))?.gitFolder).toBe(tree.gitFolder);
    expect(await stateOfEntry()).toBe('made');
  });

  it('before git has removed anything: the removal is looked at once more and goes on', async () => {
    const tree = await captured();
    await dieRemoving();
    expect(await finish()).toEqual(gone);
    expect(existsSync(tree.path)).toBe(false);
    expect(await stateOfEntry()).toBe('removed');
  });

  it('before git has removed anything, and somebody has worked in it since: it stays', async () => {
    const tree = await captured();
    await dieRemoving();
    await write(tree.path, { 'later.txt': 'later' });
    expect(await finish()).toEqual(stays('changed'));
    expect(await stateOfEntry()).toBe('captured');
  });

  it('in the middle of git: the folder is gone, and only its own registration is dropped', async () => {
    const tree = await captured();
    await git(bench.path, 'worktree', 'add', '--quiet', '--detach', at('theirs'));
    await rm(at('theirs'), { recursive: true });
    await dieRemoving();
    await rm(tree.path, { recursive: true });
    expect(await finish()).toEqual(gone);
    const left = await git(bench.path, 'worktree', 'list', '--porcelain');
    expect(left).not.toContain(tree.path);
    // A worktree of a person, on a disk that is not mounted, looks like this.
    expect(left).toContain(at('theirs'));
  });

  it('behind git, before the branch: the branch goes at the commit that is kept, and only there', async () => {
    const tree = await captured();
    await dieRemoving();
    await git(bench.path, 'worktree', 'remove', '--force', tree.path);
    const moved = await git(bench.path, 'commit-tree', '-m', 'moved', '-p', tree.base, `${tree.base}^{tree}`);
    await git(bench.path, 'update-ref', `refs/heads/${tree.branch}`, moved);
    expect(await finish()).toMatchObject({ worktreeRemoved: true, branchRemoved: false });
    expect(await ledger.read(ID)).toMatchObject({ state: 'removed', branchRemoved: false });
    expect(recoveryStep((await ledger.read(ID)) as LedgerEntry, 'ended')).toBe('keep');
    await git(bench.path, 'update-ref', `refs/heads/${tree.branch}`, tree.base);
    expect(await finish()).toEqual(gone);
    expect(await git(bench.path, 'branch', '--list', tree.branch)).toBe('');
  });

  it('with the folder gone and HEAD on what is not kept: its registration stays', async () => {
    const tree = await captured();
    await dieRemoving();
    await git(tree.path, 'checkout', '--quiet', '--detach');
    await git(tree.path, 'commit', '--quiet', '--allow-empty', '--message', 'only here');
    const head = await git(tree.path, 'rev-parse', 'HEAD');
    await rm(tree.path, { recursive: true });
    expect(await finish()).toMatchObject({
      worktreeRemoved: false,
      reasons: [{ message: expect.stringContaining(head) }],
    });
    expect(await git(bench.path, 'worktree', 'list', '--porcelain')).toContain(head);
  });

  it('of a locked registration whose folder is gone nothing is taken away', async () => {
    const tree = await captured();
    await git(bench.path, 'worktree', 'lock', tree.path);
    await dieRemoving();
    await rm(tree.path, { recursive: true });
    expect(await finish()).toMatchObject({ worktreeRemoved: false, reasons: [{ text: 'worktree_left' }] });
    expect(await git(bench.path, 'worktree', 'list', '--porcelain')).toContain(tree.path);
  });

  it('twice on the way is no more than once', async () => {
    await captured();
    await dieRemoving();
    await finish();
    expect(await finish()).toEqual(gone);
  });
});

describe('what is left to do', () => {
  it('follows from the entry, and nothing is done while anybody may be at work', async () => {
    const tree = await make();
    const own = { version: 1 as const, users: [ID], changedAt: 0 };
    const kept = { ...own, plan: tree, capture: '/kept' };
    const entries: [LedgerEntry, string][] = [
      [{ ...own, state: 'planned', plan: tree }, 'settle'],
      [{ ...own, state: 'made', plan: tree }, 'capture'],
      [{ ...kept, state: 'captured' }, 'keep'],
      [{ ...kept, state: 'removing' }, 'finish-removal'],
    ];
    for (const [entry, step] of entries) {
      expect(recoveryStep(entry, 'ended'), entry.state).toBe(step);
      for (const users of ['live', 'unknown'] as const) expect(recoveryStep(entry, users), entry.state).toBe('leave');
    }
    expect(recoveryStep({ ...own, state: 'undone', plan: tree, left: [] }, 'live')).toBe('done');
    expect(recoveryStep({ ...kept, state: 'removed', branchRemoved: true, reasons: [] }, 'live')).toBe('done');
  });
});

describe('refs that keep', () => {
  const rule = (days: number, there = false) => ({ days, now, isRunThere: async () => there });

  it('stay for their time, as long as the run is there, and while anything of the worktree is', async () => {
    await captured();
    await remove();
    const entry = await ledger.read(ID);
    if (entry?.state !== 'removed') throw new Error('not removed');
    now += 30 * DAY_MS - 1;
    expect(await mayDropRef(entry, rule(30))).toBe(false);
    now += 1;
    expect(await mayDropRef(entry, rule(30))).toBe(true);
    expect(await mayDropRef(entry, rule(30, true))).toBe(false);
    expect(await mayDropRef(entry, rule(0))).toBe(false);
    expect(await mayDropRef({ ...entry, branchRemoved: false }, rule(30))).toBe(false);
    expect(await mayDropRef({ ...entry, state: 'captured' }, rule(30))).toBe(false);
  });

  it('go by themselves: those of others, of unreadable entries, and of whole captures stay', async () => {
    const tree = await captured();
    await remove();
    const foreign = 'refs/pi-lanes/kept/unknown/1';
    await git(bench.path, 'update-ref', foreign, tree.base);
    now += 31 * DAY_MS;
    const drop = async () => dropKeptRefs(bench.git, bench.lock, tree.repository, await ledger.list(), rule(30));
    // Its capture is still there.
    expect(await drop()).toEqual([]);
    await rm(bench.capturesOf(tree), { recursive: true });
    expect(await drop()).toEqual([keptRef(tree)]);
    expect(await git(bench.path, 'for-each-ref', '--format=%(refname)', 'refs/pi-lanes')).toBe(foreign);
    expect(await drop()).toEqual([]);
  });
});

/** `pi-lanes worktrees` and `pi-lanes lanes` say what there is, and change nothing but what was attested. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LanesOptions, lanesCommand } from '../../src/cli/commands/lanes.ts';
import { worktreesCommand } from '../../src/cli/commands/worktrees.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { Toolbox } from '../../src/client/index.ts';
import { findProject, type Project, runLayout } from '../../src/core/projects/index.ts';
import { Ledger, makeHandoff, removeTracked, withLedger, writeHandoff } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { git, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { Bench, RUN } from '../support/worktrees.ts';
import { ended, me, writeRun } from '../unit/builders/run.ts';

const ID = { runId: RUN, child: 1 };

let folder: TempDir;
let bench: Bench;
let project: Project;
let ledger: Ledger;
let context: CliContext;
let out: string[];
let err: string[];
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await mkdir(at('store'));
  bench = await Bench.make(at('repo'), at('store'));
  const env = { ...process.env, PI_CODING_AGENT_DIR: at('agent') };
  const toolbox = new Toolbox({ env, distDirectory: at('dist'), client: { kind: 'test', version: '0' } });
  project = await findProject(toolbox.agentDir, bench.path);
  ledger = new Ledger(project.layout.worktrees);
  [out, err] = [[], []];
  const owner = { kind: 'cli', id: 'me' } as const;
  context = { toolbox, cwd: bench.path, owner, out: (text) => out.push(text), err: (text) => err.push(text) };
});

afterEach(() => folder.remove());

const make = () =>
  bench.one({ allocator: { git: bench.git, lock: bench.lock, journal: withLedger(bench.journal, ledger) } });

async function keep(tree: WorktreeRecord) {
  const kept = await bench.capture(tree);
  await ledger.captured(ID, kept.folder);
  return kept;
}

const endedRun = () => writeRun(project.layout.directory, { record: { runId: RUN }, events: [ended('complete')] });

async function listed(): Promise<Record<string, unknown>[]> {
  out.length = 0;
  await worktreesCommand(context, { json: true });
  const { schemaVersion, worktrees } = JSON.parse(out[0] ?? '');
  expect(schemaVersion).toBe(1);
  return worktrees;
}

describe('worktrees', () => {
  it('says that there are none', async () => {
    expect(await worktreesCommand(context, { json: undefined })).toBe(0);
    expect(out).toEqual(['No worktrees of children in this project.']);
    expect(err).toEqual([]);
  });

  it('shows whose each is, what was kept of it, who uses it, and changes nothing', async () => {
    const tree = await make();
    await writeRun(project.layout.directory, { record: { runId: RUN }, events: [], lease: await me() });
    expect(await listed()).toMatchObject([
      { ...ID, state: 'made', path: tree.path, branch: tree.branch, present: true, registered: true },
    ]);
    await write(tree.path, { 'work.txt': 'one\n', 'debug ü.log': 'x' });
    await keep(tree);
    const before = await stateOf(bench.path);
    expect(await listed()).toMatchObject([
      { state: 'captured', capture: { changed: true, patch: { files: 2 } }, users: [{ ...ID, liveness: 'live' }] },
    ]);
    expect(await worktreesCommand(context, { json: undefined })).toBe(0);
    const text = out.at(-1);
    for (const part of [tree.path, tree.branch, `child 1 of ${RUN}`, '2 file(s) +2 -0', 'in use by child 1'])
      expect(text).toContain(part);
    expect(await stateOf(bench.path)).toEqual(before);
  });

  it('who works for a lost run may still be at work', async () => {
    await make();
    await writeRun(project.layout.directory, { record: { runId: RUN }, events: [] });
    expect(await listed()).toMatchObject([{ users: [{ ...ID, liveness: 'unknown' }] }]);
    await worktreesCommand(context, { json: undefined });
    expect(out.at(-1)).toContain('may be in use by child 1');
  });

  it('one deleted by hand, and one on another branch, are told', async () => {
    const tree = await make();
    await git(tree.path, 'checkout', '--quiet', '-b', 'elsewhere');
    expect(await listed()).toMatchObject([{ present: true, registered: false }]);
    await rm(tree.path, { recursive: true });
    expect(await listed()).toMatchObject([{ state: 'made', present: false }]);
    await worktreesCommand(context, { json: undefined });
    expect(out.at(-1)).toContain('its folder is gone');
  });

  it('one that nobody has written down is listed as unknown; those of the person are not', async () => {
    await git(bench.path, 'worktree', 'add', '--quiet', '-b', 'pi-lanes/lost', at('lost'));
    await git(bench.path, 'worktree', 'add', '--quiet', '-b', 'mine', at('mine'));
    expect(await listed()).toMatchObject([{ state: 'unknown', branch: 'pi-lanes/lost', registered: true }]);
    await worktreesCommand(context, { json: undefined });
    expect(out.join('\n')).toContain('never removed by itself');
  });

  it('an entry that cannot be read hides no other, and is told', async () => {
    await make();
    await writeFile(join(ledger.directoryOf(RUN), '2.json'), '{');
    expect(await worktreesCommand(context, { json: true })).toBe(1);
    expect(JSON.parse(out[0] ?? '').worktrees).toMatchObject([
      { child: 1, state: 'made' },
      { child: 2, state: 'unreadable', fault: expect.any(String) },
    ]);
  });

  it('a removed one stays in the list with what keeps its work', async () => {
    const tree = await make();
    await write(tree.path, { 'work.txt': 'one\n' });
    const { capture } = await keep(tree);
    const options = { git: bench.git, lock: bench.lock, ledger, handOver: async () => undefined };
    await removeTracked(ID, { ...options, livenessOf: async () => 'ended' });
    expect(await listed()).toMatchObject([
      { state: 'removed', present: false, registered: false, capture: { kept: capture.kept } },
    ]);
  });
});

const blank: LanesOptions = {
  pr: undefined,
  'reviewed-head': undefined,
  'merge-commit': undefined,
  'tree-equivalent': undefined,
  checks: undefined,
  'superseded-by': undefined,
  by: undefined,
  at: undefined,
  json: true,
};
const merge = {
  pr: '7',
  'reviewed-head': 'A'.repeat(40),
  'merge-commit': 'b'.repeat(40),
  'tree-equivalent': 'true',
  checks: 'recorded',
  by: 'me',
  at: '2026-01-31T12:00:00Z',
};

async function lanes(action: string, options: Partial<LanesOptions> = {}): Promise<Record<string, unknown>> {
  out.length = 0;
  await lanesCommand(context, action, RUN, { ...blank, ...options });
  return JSON.parse(out[0] ?? '');
}

describe('lanes', () => {
  const handOver = async (tree: WorktreeRecord, status = 'complete') => {
    const run = { runId: RUN, mode: 'single', cwd: bench.path } as const;
    const path = runLayout(join(project.layout.runs, RUN)).handoff;
    await writeHandoff(path, makeHandoff(run, [{ plan: tree, agent: 'worker', status }], 1));
  };

  it('of a run without worktrees nothing is known, and nothing is recorded', async () => {
    await endedRun();
    expect(await lanes('status')).toMatchObject({ eligibility: { state: 'unknown' }, manifest: null });
    await expect(lanes('record-merge', merge)).rejects.toMatchObject({ code: 'lane_refused' });
    expect(await lanes('status')).toMatchObject({ evidence: null });
  });

  it('a merge makes it eligible, once; the run itself is not written; a change makes it stale', async () => {
    await endedRun();
    const tree = await make();
    await handOver(tree);
    const { handoff } = runLayout(join(project.layout.runs, RUN));
    const before = await readFile(handoff, 'utf8');
    expect(await lanes('status')).toMatchObject({ eligibility: { state: 'terminal-blocked' } });
    expect(await lanes('record-merge', merge)).toMatchObject({
      recorded: true,
      eligibility: { state: 'terminal-eligible' },
      evidence: { merge: { prNumber: 7, reviewedHead: 'a'.repeat(40), treeEquivalent: true } },
    });
    expect(await lanes('record-merge', merge)).toMatchObject({ recorded: false });
    await expect(lanes('record-merge', { ...merge, pr: '8' })).rejects.toThrow('Other evidence');
    expect(await readFile(handoff, 'utf8')).toBe(before);
    await handOver(tree, 'failed');
    expect(await lanes('status')).toMatchObject({
      eligibility: { state: 'terminal-blocked', reason: expect.stringContaining('stale') },
    });
  });

  it('a supersession takes its place, and is told to a person', async () => {
    await endedRun();
    await handOver(await make());
    await lanes('record-merge', merge);
    const wanted = { 'superseded-by': 'another', by: 'me' };
    expect(await lanes('record-supersession', wanted)).toMatchObject({ eligibility: { state: 'superseded-eligible' } });
    await lanesCommand(context, 'status', RUN, { ...blank, json: undefined });
    expect(out.at(-1)).toContain('Superseded by another; says me');
    await expect(lanes('record-supersession', { ...wanted, 'superseded-by': RUN })).rejects.toThrow('by itself');
  });

  it('while a child may be at work nothing is recorded', async () => {
    await writeRun(project.layout.directory, { record: { runId: RUN }, events: [] });
    await handOver(await make());
    expect(await lanes('status')).toMatchObject({ eligibility: { state: 'active' } });
    await expect(lanes('record-merge', merge)).rejects.toThrow('not all of its children');
  });

  it('what cannot be read is not believed', async () => {
    await endedRun();
    await handOver(await make());
    await lanes('record-merge', merge);
    await writeFile(join(ledger.directoryOf(RUN), 'evidence.json'), '{');
    expect(await lanes('status')).toMatchObject({ eligibility: { state: 'unknown' }, evidence: null });
    await writeFile(runLayout(join(project.layout.runs, RUN)).handoff, '{');
    expect(await lanes('status')).toMatchObject({ eligibility: { state: 'unknown' }, manifest: null });
  });

  it.each<[string, Partial<LanesOptions>, RegExp]>([
    ['forget', {}, /no "lanes forget"/],
    ['status', { pr: '1' }, /--pr does not go with "lanes status"/],
    ['record-supersession', { ...merge, 'superseded-by': 'x' }, /--pr does not go/],
    ['record-merge', { ...merge, 'superseded-by': 'x' }, /--superseded-by does not go/],
    ['record-merge', { ...merge, by: undefined }, /needs --by/],
    ['record-merge', { ...merge, pr: 'seven' }, /--pr is "seven"/],
    ['record-merge', { ...merge, 'merge-commit': 'abc' }, /--merge-commit is "abc"/],
    ['record-merge', { ...merge, 'tree-equivalent': 'perhaps' }, /--tree-equivalent is "perhaps"/],
    ['record-merge', { ...merge, checks: 'yes' }, /--checks is "yes"/],
    ['record-merge', { ...merge, at: 'soon' }, /--at is "soon"/],
  ])('%s %j is refused by name', async (action, options, told) => {
    await endedRun();
    await expect(lanes(action, options)).rejects.toThrow(told);
  });
});

/** What a person sees of all worktrees by repository; looking changes nothing. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { worktreesCommand } from '../../src/cli/commands/worktrees.ts';
import { type OverviewOptions, readOverview, type WorktreeOverview } from '../../src/client/index.ts';
import { standingsOf } from '../../src/core/worktrees/index.ts';
import { numbersFrom, printedSeed } from '../support/random-numbers.ts';
import { commitAll, git, stateOf, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { WorktreeProject } from '../support/worktree-project.ts';
import { ended, me, writeRun } from '../unit/builders/run.ts';

let folder: TempDir;
let project: WorktreeProject;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  project = await WorktreeProject.make(folder.path);
});

afterEach(() => folder.remove());

async function seen(options: OverviewOptions = {}): Promise<WorktreeOverview[]> {
  const groups = await readOverview(project.store, { folder: project.bench.path, ...options });
  expect(groups).toMatchObject([{ repository: project.project.key, title: 'repo', fault: null }]);
  return groups[0]?.worktrees ?? [];
}

it('one worked in: how far it is, what it has changed, whose it is, and whether it may go', async () => {
  const tree = await project.make('fix');
  await writeRun(project.project.layout.directory, { record: { runId: tree.runId }, events: [], lease: await me() });
  await write(tree.path, { 'a.txt': 'changed', new: 'new' });
  await commitAll(tree.path, 'work');
  await write(tree.path, { later: 'later', 'src/b.txt': 'changed' });
  await write(project.bench.path, { other: 'other' });
  await commitAll(project.bench.path, 'meanwhile');
  await write(project.bench.path, { other: 'another' });
  await commitAll(project.bench.path, 'meanwhile too');
  const before = await stateOf(project.bench.path);
  const [own, main] = await seen({ sizes: true });
  expect(own).toMatchObject({
    kind: 'lane',
    state: 'made',
    path: tree.path,
    branch: tree.branch,
    base: tree.base,
    ahead: 1,
    behind: 2,
    changed: 4,
    present: true,
    locked: null,
    owner: { runId: tree.runId, child: 1, state: 'queued', agent: 'worker' },
    eligibility: { state: 'unknown' },
    size: { files: 4 },
  });
  expect(Date.now() - (own?.lastActivity ?? 0)).toBeLessThan(60_000);
  expect(main).toMatchObject({ kind: 'main', state: null, branch: 'main', ahead: 0, behind: 0, owner: null });
  expect(await stateOf(project.bench.path)).toEqual(before);
});

it('one that is kept says what the capture says; its lane and its end are told', async () => {
  const tree = await project.make();
  await write(tree.path, { 'a.txt': 'changed' });
  await project.finish(tree);
  expect((await seen())[0]).toMatchObject({
    state: 'captured',
    changed: 1,
    size: null,
    owner: { state: 'complete' },
    eligibility: { state: 'terminal-blocked', reason: 'no evidence is recorded' },
  });
});

it('those of the person, those nobody has written down and broken entries stand beside them, and are not looked into', async () => {
  const tree = await project.make();
  await project.finish(tree);
  await git(project.bench.path, 'worktree', 'add', '--quiet', '-b', 'mine', at('mine'));
  await git(project.bench.path, 'worktree', 'lock', '--reason', 'disk is away', at('mine'));
  await git(project.bench.path, 'worktree', 'add', '--quiet', '-b', 'pi-lanes/lost', at('lost'));
  await git(project.bench.path, 'worktree', 'add', '--quiet', '--detach', at('gone'));
  await rm(at('gone'), { recursive: true });
  await writeFile(join(project.ledger.directoryOf(tree.runId), '7.json'), '{');
  const groups = await readOverview(project.store, {});
  const rows = groups
    .flatMap(({ worktrees }) => worktrees)
    .map(({ kind, path, locked, present }) => [kind, path, locked, present]);
  expect(rows.filter(([kind]) => kind !== 'lane').sort()).toEqual(
    [
      ['main', project.bench.path, null, true],
      ['foreign', at('mine'), 'disk is away', true],
      ['unknown', at('lost'), null, true],
      ['foreign', at('gone'), null, false],
      ['unreadable', null, null, null],
    ].sort(),
  );
  expect(await worktreesCommand(project.context, { json: undefined })).toBe(1);
  expect(project.out.join('\n')).toContain(`yours       mine  never touched\n    ${at('mine')}`);
});

it('where git cannot be asked, what the ledger says is told all the same', async () => {
  await project.make();
  await rm(project.project.key, { recursive: true });
  const [group] = await readOverview(project.store, {});
  expect(group).toMatchObject({ fault: { code: 'git_failed' }, worktrees: [{ state: 'made', ahead: null }] });
});

it('outside of every repository there is nothing to see', async () => {
  await writeRun(project.project.layout.directory, { events: [ended('complete')] });
  expect(await readOverview(project.store, { folder: folder.path })).toEqual([]);
});

it('counts for many commits at once what git counts for each pair', async () => {
  const random = numbersFrom(printedSeed());
  const { path, git: ours } = project.bench;
  const heads = [await git(path, 'rev-parse', 'HEAD')];
  const pick = () => heads[Math.floor(random() * heads.length)] ?? '';
  const tree = await git(path, 'rev-parse', 'HEAD^{tree}');
  for (let n = 0; n < 40; n++) {
    const parents = new Set(random() < 0.3 ? [pick(), pick()] : [pick()]);
    heads.push(await git(path, 'commit-tree', ...[...parents].flatMap((one) => ['-p', one]), '-m', `${n}`, tree));
  }
  // One that has nothing in common with the others.
  heads.push(await git(path, 'commit-tree', '-m', 'alone', tree));
  const target = pick();
  const found = await standingsOf(ours, path, target, [...heads, 'f'.repeat(40)]);
  expect(found.size).toBe(new Set(heads).size);
  for (const head of heads) {
    const said = await git(path, 'rev-list', '--left-right', '--count', `${target}...${head}`);
    const [behind, ahead] = said.split('\t').map(Number);
    expect(found.get(head), head).toEqual({ ahead, behind });
  }
});

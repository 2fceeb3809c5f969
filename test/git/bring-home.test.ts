/** The work of a lane comes home as a whole or not at all, with what was changed there; it can be taken back, and be made a branch. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyCommand, branchCommand, laneConflictsCommand, undoCommand } from '../../src/cli/commands/bring-home.ts';
import { applyWork, branchOfWork, forecastWork, undoWork, WorktreeDoor } from '../../src/client/index.ts';
import { folderLock } from '../../src/core/git/index.ts';
import { acquireLock } from '../../src/core/locks/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { listApplications, removeTracked } from '../../src/core/worktrees/index.ts';
import type { WorktreeRecord } from '../../src/protocol/index.ts';
import { commitAll, type Files, git, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { contentOf } from '../support/worktree-content.ts';
import { WorktreeProject } from '../support/worktree-project.ts';

const LINES = Array.from({ length: 20 }, (_, n) => `line ${n}\n`);
const withLine = (at: number, text: string) => LINES.map((line, n) => (n === at ? `${text}\n` : line)).join('');

let folder: TempDir;
let project: WorktreeProject;
let door: WorktreeDoor;
let home: string;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  project = await WorktreeProject.make(folder.path, {
    text: LINES.join(''),
    'run me': { content: '#!/bin/sh\n', mode: 0o755 },
    'старый/файл': 'old\n',
    gone: 'gone\n',
    'folder/only': 'x',
    link: { link: 'text' },
    bytes: Buffer.from([0, 1, 2, 255]),
    '.gitignore': '*.log\n',
  });
  door = await WorktreeDoor.open(project.store, project.toolbox.root);
  home = project.bench.path;
});

afterEach(() => folder.remove());

async function lane(
  files: Files,
  change: (tree: WorktreeRecord) => Promise<unknown> = async () => undefined,
): Promise<WorktreeRecord> {
  const tree = await project.make();
  await write(tree.path, files);
  await change(tree);
  await project.finish(tree);
  return tree;
}

const whole = () =>
  lane({ text: withLine(2, 'changed'), 'new/дир/ü "q"': 'new', 'debug.log': 'log' }, async ({ path }) => {
    await commitAll(path, 'some of it');
    await rm(join(path, 'gone'));
    await chmod(join(path, 'run me'), 0o644);
    await rm(join(path, 'link'));
    await symlink('elsewhere', join(path, 'link'));
    await rename(join(path, 'старый/файл'), join(path, 'moved'));
    await rm(join(path, 'folder'), { recursive: true });
    await writeFile(join(path, 'folder'), 'a file now');
    await writeFile(join(path, 'bytes'), Buffer.from([0, 9, 255]));
  });

const apply = (tree: WorktreeRecord, files?: string[]) => applyWork(door, tree, { cwd: home, files });
const outcomes = async (tree: WorktreeRecord) => {
  const { files } = await forecastWork(door, tree, { cwd: home });
  return Object.fromEntries(files.map(({ path, outcome, reason }) => [path, reason ?? outcome]));
};
const undo = (id?: string) => undoWork(door, { cwd: home, id });
/** The checkout and its index. */
const stateOfHome = async () => [
  await contentOf(home),
  await git(home, 'write-tree'),
  await git(home, 'status', '--porcelain'),
];
/** What a checkout would be that has the tree of the lane. */
const files = async (path: string) => {
  const content = await contentOf(path);
  content.delete('debug.log');
  return content;
};

describe('all of it', () => {
  it('comes with modes, links, bytes, renames and what is gone; the index stays; and goes back without a trace', async () => {
    const tree = await whole();
    const before = await stateOfHome();
    const foreseen = await forecastWork(door, tree, { cwd: home });
    expect(foreseen).toMatchObject({ root: home, outside: 1 });
    expect(new Set(foreseen.files.map(({ outcome }) => outcome))).toEqual(new Set(['take']));
    expect(await stateOfHome()).toEqual(before);
    const { id } = await apply(tree);
    expect(await contentOf(home)).toEqual(await files(tree.path));
    expect(existsSync(join(home, 'старый'))).toBe(false);
    expect(await git(home, 'write-tree')).toBe(before[1]);
    // Once more there is nothing to do.
    expect(await apply(tree)).toMatchObject({ id: null });
    expect((await undo()).id).toBe(id);
    expect(await stateOfHome()).toEqual(before);
    expect(existsSync(join(home, 'new'))).toBe(false);
    await expect(undo()).rejects.toThrow('nothing was applied');
  });

  it('comes from a worktree that is gone, into a subfolder of another worktree of the person', async () => {
    const tree = await whole();
    const wanted = await files(tree.path);
    const options = { git: door.git, lock: project.lock, ledger: project.ledger, handOver: async () => undefined };
    await removeTracked(tree, { ...options, livenessOf: async () => 'ended' });
    await git(home, 'worktree', 'add', '--quiet', '-b', 'mine', at('mine'));
    await mkdir(at('mine', 'deep'));
    const { root } = await applyWork(door, tree, { cwd: at('mine', 'deep') });
    expect(root).toBe(at('mine'));
    expect(await contentOf(at('mine'))).toEqual(wanted);
    expect(await git(home, 'status', '--porcelain')).toBe('');
    await undoWork(door, { cwd: at('mine') });
    expect(await git(at('mine'), 'status', '--porcelain')).toBe('');
  });

  it('goes together with what was changed here, committed or not, and both stay', async () => {
    const tree = await lane({ text: withLine(2, 'theirs'), 'run me': '#!/bin/sh\ntheirs\n', other: 'same' });
    await write(home, { text: withLine(17, 'ours'), other: 'same' });
    await chmod(join(home, 'run me'), 0o644);
    const before = await stateOfHome();
    expect(await outcomes(tree)).toEqual({ text: 'merge', 'run me': 'take', other: 'same' });
    await apply(tree);
    const text = await readFile(join(home, 'text'), 'utf8');
    expect(text.split('\n').filter((line) => /ours|theirs/.test(line))).toEqual(['theirs', 'ours']);
    expect((await contentOf(home)).get('run me')).toMatch(/^file /);
    await undo();
    expect(await stateOfHome()).toEqual(before);
  });

  it('keeps the line ends of the checkout', async () => {
    await write(home, { '.gitattributes': 'crlf eol=crlf\n', crlf: LINES.join('') });
    await commitAll(home, 'with line ends');
    await rm(join(home, 'crlf'));
    await git(home, 'checkout', '--', 'crlf');
    const tree = await lane({}, ({ path }) =>
      writeFile(join(path, 'crlf'), withLine(1, 'theirs').replaceAll('\n', '\r\n')),
    );
    await writeFile(join(home, 'crlf'), withLine(15, 'ours').replaceAll('\n', '\r\n'));
    expect(await outcomes(tree)).toEqual({ crlf: 'merge' });
    await apply(tree);
    const lines = (await readFile(join(home, 'crlf'), 'utf8')).split('\r\n');
    expect([lines[1], lines[15], lines.length]).toEqual(['theirs', 'ours', 21]);
  });
});

describe('what contradicts', () => {
  it('is told file by file, and then nothing at all is applied; what was chosen is', async () => {
    const tree = await lane(
      { text: withLine(2, 'theirs'), added: 'theirs', bytes: Buffer.from([0, 7]), 'a/b': 'x', fine: 'fine' },
      async ({ path }) => {
        await rm(join(path, 'gone'));
        await write(path, { 'старый/файл': 'theirs\n', link: 'no link' }).catch(() => undefined);
      },
    );
    await write(home, {
      text: withLine(2, 'ours'),
      added: 'ours',
      bytes: Buffer.from([0, 8]),
      a: 'a file',
      gone: 'ours\n',
    });
    await rm(join(home, 'старый/файл'));
    const before = await stateOfHome();
    expect(await outcomes(tree)).toMatchObject({
      text: 'lines',
      added: 'both-added',
      bytes: 'lines',
      'a/b': 'in-the-way',
      fine: 'take',
      gone: 'deleted-there',
      'старый/файл': 'deleted-here',
    });
    await expect(apply(tree)).rejects.toThrow(/Nothing was applied: \d file\(s\) contradict/);
    expect(await stateOfHome()).toEqual(before);
    await expect(apply(tree, ['nothing'])).rejects.toThrow('changed nothing that is called nothing');
    expect((await apply(tree, ['./fine'])).files).toMatchObject([{ path: 'fine', outcome: 'take' }]);
    expect(await readFile(join(home, 'fine'), 'utf8')).toBe('fine');
    expect(await readFile(join(home, 'added'), 'utf8')).toBe('ours');
  });

  it('a link in the way is not written through', async () => {
    await mkdir(at('outside'));
    const tree = await lane({ 'sub/x': 'x' });
    await symlink(at('outside'), join(home, 'sub'));
    expect(await outcomes(tree)).toEqual({ 'sub/x': 'in-the-way' });
    await expect(apply(tree)).rejects.toMatchObject({ code: 'apply_refused' });
    expect(existsSync(at('outside', 'x'))).toBe(false);
  });

  it('a folder is chosen with all below it', async () => {
    const tree = await lane({ 'one/a': 'a', 'one/b/c': 'c', oneself: 'x' });
    expect((await apply(tree, ['one/'])).files.map(({ path }) => path)).toEqual(['one/a', 'one/b/c']);
    expect(existsSync(join(home, 'oneself'))).toBe(false);
  });

  it('a checkout of something else, its own worktree, and one an agent works in are refused', async () => {
    const tree = await whole();
    await expect(applyWork(door, tree, { cwd: tree.path })).rejects.toThrow('is the worktree that the work is in');
    await expect(applyWork(door, tree, { cwd: folder.path })).rejects.toThrow('no checkout of the repository');
    const lock = await acquireLock(folderLock(project.toolbox.root.checkouts, home), { purpose: 'an agent' });
    await expect(apply(tree)).rejects.toMatchObject({ code: 'checkout_in_use' });
    await lock.release();
    await apply(tree);
  });

  it('what was changed after it was applied is not undone over', async () => {
    const tree = await whole();
    await apply(tree);
    await write(home, { moved: 'mine' });
    const before = await stateOfHome();
    await expect(undo()).rejects.toThrow('changed since: moved');
    expect(await stateOfHome()).toEqual(before);
  });

  it('a file that changes at this moment stays, and all others are as they were', async () => {
    const tree = await whole();
    const before = await stateOfHome();
    const atStep = async (step: string) => {
      if (step === 'file 6') await write(home, { text: 'mine' });
    };
    await expect(applyWork(door, tree, { cwd: home, atStep })).rejects.toMatchObject({ code: 'apply_refused' });
    expect(await readFile(join(home, 'text'), 'utf8')).toBe('mine');
    await write(home, { text: LINES.join('') });
    expect(await stateOfHome()).toEqual(before);
  });
});

describe('a death', () => {
  const SCRIPT = join(import.meta.dirname, '..', 'support', 'apply-life.ts');

  const live = async (what: 'apply' | 'undo', step: string, tree: WorktreeRecord) => {
    const entry = await project.ledger.read(tree);
    if (!entry || !('capture' in entry)) throw new Error('not kept');
    const { base, tree: hash } = JSON.parse(await readFile(join(entry.capture, 'capture.json'), 'utf8'));
    const scratch = await mkdtemp(at('scratch-'));
    const args = [SCRIPT, what, step, project.store.layout.applications, home, base, hash, scratch];
    const answer = await promisify(execFile)(process.execPath, args).then(
      ({ stdout }) => ({ stdout, died: false }),
      (error: { stdout: string; signal?: string }) => ({ stdout: error.stdout, died: error.signal === 'SIGKILL' }),
    );
    return { steps: answer.stdout.split('\n').filter(Boolean), died: answer.died };
  };

  it('at each step leaves an intent, and whoever comes next puts everything back', async () => {
    const tree = await whole();
    const before = await stateOfHome();
    const { steps } = await live('apply', 'none', tree);
    expect(steps.length).toBeGreaterThan(8);
    await undo();
    for (const step of steps) {
      expect((await live('apply', step, tree)).died, step).toBe(true);
      const [application] = await listApplications(project.store.layout.applications, home);
      // As if it had died while a file was put in its place.
      const beside = join(home, `.pi-lanes-${application?.id}`);
      if (step !== 'intent') await writeFile(beside, 'half');
      await expect(undo(), step).rejects.toThrow('nothing was applied');
      expect(await stateOfHome(), step).toEqual(before);
      expect(existsSync(beside), step).toBe(false);
    }
    await apply(tree);
    const { steps: backward } = await live('undo', 'none', tree);
    expect(await stateOfHome()).toEqual(before);
    for (const step of backward) {
      await apply(tree);
      expect((await live('undo', step, tree)).died, step).toBe(true);
      await expect(undo(), step).rejects.toThrow('nothing was applied');
      expect(await stateOfHome(), step).toEqual(before);
    }
  }, 180_000);
});

describe('a branch', () => {
  it('stands on the commits that were made, with one more for what was not committed', async () => {
    const tree = await whole();
    const tip = await git(tree.path, 'rev-parse', 'HEAD');
    const content = await files(tree.path);
    const { commit } = await branchOfWork(door, tree, 'feature/home');
    expect(await git(home, 'rev-parse', 'feature/home^')).toBe(tip);
    expect(await git(home, 'log', '--format=%s', `${tree.base}..${commit}`)).toMatch(/^Work of .*\nsome of it$/);
    await git(home, 'worktree', 'add', '--quiet', at('look'), 'feature/home');
    expect(await contentOf(at('look'))).toEqual(content);
  });

  it('of committed work alone is the tip itself; names that are taken or none are refused', async () => {
    const tree = await lane({ text: 'committed' }, ({ path }) => commitAll(path, 'work'));
    const tip = await git(tree.path, 'rev-parse', 'HEAD');
    expect(await branchOfWork(door, tree, 'feature/home')).toEqual({ branch: 'feature/home', commit: tip });
    expect(await git(home, 'rev-parse', 'feature/home')).toBe(tip);
    await expect(branchOfWork(door, tree, 'feature/home')).rejects.toThrow('There is a branch feature/home already');
    await expect(branchOfWork(door, tree, 'no..name')).rejects.toThrow('No branch can be called');
    expect(await git(home, 'symbolic-ref', '--short', 'HEAD')).toBe('main');
    await expect(branchOfWork(door, await lane({}), 'empty')).rejects.toThrow('changed nothing');
  });
});

describe('lanes of a run', () => {
  it('that contradict each other are told with their files', async () => {
    const runId = newRunId();
    const trees = [];
    for (const child of [1, 2, 3, 4]) trees.push(await project.make(`lane ${child}`, runId, child));
    const [a, b, c, d] = trees as [WorktreeRecord, WorktreeRecord, WorktreeRecord, WorktreeRecord];
    await write(a.path, { text: withLine(2, 'a'), added: 'a', path: 'a file' });
    await write(b.path, { text: withLine(2, 'b'), added: 'b', 'path/x': 'x' });
    await write(c.path, { text: withLine(17, 'c') });
    await write(d.path, { unshared: 'd' });
    for (const tree of trees) await project.finish(tree);
    expect(await laneConflictsCommand(project.context, runId, { json: true })).toBe(1);
    const { pairs } = JSON.parse(project.out.at(-1) ?? '');
    expect(pairs).toEqual([
      {
        lanes: ['1', '2'],
        shared: 2,
        conflicts: [
          { path: 'added', reason: 'both-added' },
          { path: 'path/x', reason: 'in-the-way' },
          { path: 'text', reason: 'lines' },
        ],
      },
      { lanes: ['1', '3'], shared: 1, conflicts: [] },
      { lanes: ['2', '3'], shared: 1, conflicts: [] },
    ]);
    await laneConflictsCommand(project.context, runId, {});
    expect(project.out.at(-1)).toContain('1 and 3: 1 file(s) in common, which go together');
  });
});

describe('the command line', () => {
  it('shows what will come, brings it, and takes it back', async () => {
    const tree = await whole();
    const none = { files: undefined, forecast: undefined, json: undefined };
    const before = await stateOfHome();
    expect(await applyCommand(project.context, `${tree.runId}/1`, { ...none, forecast: true })).toBe(0);
    expect(project.out.at(-1)).toMatch(/^Into .*:\n/);
    expect(project.out.at(-1)).toContain('deleted   gone  taken');
    expect(project.out.at(-1)).toContain('1 file(s) that no commit has do not come along\nNothing was changed.');
    expect(await stateOfHome()).toEqual(before);
    expect(await applyCommand(project.context, tree.runId, none)).toBe(0);
    const id = /--undo (\S+)$/.exec(project.out.at(-1) ?? '')?.[1];
    expect(await undoCommand(project.context, id, { json: undefined })).toBe(0);
    expect(await stateOfHome()).toEqual(before);
    expect(await branchCommand(project.context, tree.runId, 'home', {})).toBe(0);
    expect(project.out.at(-1)).toContain('home is at ');
    await write(home, { text: withLine(2, 'mine') });
    expect(await applyCommand(project.context, tree.runId, { ...none, forecast: true })).toBe(1);
    expect(project.out.at(-1)).toContain('CONFLICT (both have changed the same lines');
  });
});

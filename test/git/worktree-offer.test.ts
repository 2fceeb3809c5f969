/** What a person is told before they may choose a worktree: whether one can be made, from what, and why not. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { offerWorktree, Toolbox } from '../../src/client/index.ts';
import { commitAll, git, makeRepository, write } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let folder: TempDir;
let toolbox: Toolbox;
let work: string;

beforeEach(async () => {
  folder = await tempDir();
  work = join(folder.path, 'tool');
  toolbox = new Toolbox({
    env: { ...process.env, PI_CODING_AGENT_DIR: join(folder.path, 'agent') },
    distDirectory: folder.path,
    client: { kind: 'test', version: '0' },
  });
});
afterEach(() => folder.remove());

const offer = (baseRef?: string, cwd = work) => offerWorktree(toolbox, cwd, 'worker', baseRef);

describe('a clean checkout', () => {
  it('offers its branches, those of remotes and its tags, changed last first, by names that git knows', async () => {
    await makeRepository(join(folder.path, 'upstream'));
    await git(folder.path, 'clone', '--quiet', 'upstream', 'tool');
    await git(work, 'tag', 'v1');
    await git(work, 'tag', 'both');
    await git(work, 'checkout', '--quiet', '-b', 'both');
    await write(work, { 'c.txt': 'three\n' });
    await commitAll(work, 'second');
    await git(work, 'checkout', '--quiet', '-b', 'häfen/nord');
    const { refusal, head, refs } = await offer();
    expect(refusal).toBeNull();
    expect(head).toBe('häfen/nord');
    expect(refs).toHaveLength(6);
    expect(refs).toEqual(
      expect.arrayContaining([
        { kind: 'branch', name: 'häfen/nord' },
        { kind: 'branch', name: 'main' },
        { kind: 'branch', name: 'refs/heads/both' },
        { kind: 'remote', name: 'origin/main' },
        { kind: 'tag', name: 'v1' },
        { kind: 'tag', name: 'refs/tags/both' },
      ]),
    );
    // Each of them can be the base.
    for (const { name } of refs) expect((await offer(name)).refusal, name).toBeNull();
    expect((await offer('nowhere')).refusal).toMatchObject({ text: 'worktree_refused:base' });
  });

  it('has no branch to tell where HEAD stands on none', async () => {
    await makeRepository(work);
    await git(work, 'checkout', '--quiet', '--detach');
    expect(await offer()).toMatchObject({ refusal: null, head: null });
  });

  it('is refused for a setup hook that the settings name and that is not there', async () => {
    await makeRepository(work);
    await mkdir(join(folder.path, 'agent', 'pi-lanes'), { recursive: true });
    await writeFile(toolbox.root.config, JSON.stringify({ worktrees: { setupHook: './nothing.sh' } }));
    expect((await offer()).refusal).toMatchObject({ text: 'worktree_refused:setup' });
  });
});

describe('no worktree can be made', () => {
  it('outside of git', async () => {
    await mkdir(work);
    expect(await offer()).toMatchObject({ refusal: { text: 'worktree_refused:no-repository' }, head: null, refs: [] });
  });

  it('before the first commit', async () => {
    await mkdir(work);
    await git(work, 'init', '--quiet');
    expect(await offer()).toMatchObject({ refusal: { text: 'worktree_refused:unborn' }, head: 'main', refs: [] });
  });

  it('while something is not committed: it would not be in it', async () => {
    await makeRepository(work);
    await write(work, { 'new.txt': 'new\n' });
    expect(await offer()).toMatchObject({
      refusal: { text: 'worktree_refused:dirty', params: { files: 'new.txt' } },
      head: 'main',
    });
  });

  it('without git', async () => {
    await makeRepository(work);
    const without = new Toolbox({
      env: { ...process.env, PATH: '' },
      distDirectory: folder.path,
      client: { kind: 'test', version: '0' },
    });
    expect((await offerWorktree(without, work, 'worker')).refusal).toMatchObject({ code: 'git_unusable' });
  });
});

/** The git layer: what every call of git can rely on. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Git,
  isLocked,
  listWorktrees,
  parseWorktrees,
  RepositoryLock,
  splitRecords,
} from '../../src/core/git/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { listProcesses } from '../../src/core/processes/index.ts';
import { makeRepository, git as setUp } from '../support/repository.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';

const posix = process.platform !== 'win32';
let folder: TempDir;
let git: Git;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  git = await Git.find({ cwd: folder.path });
});

afterEach(() => folder.remove());

/** A program that stands in for git: `version` is answered, everything else is the script's. */
async function fakeGit(script: string, version = '2.40.1'): Promise<string> {
  const path = at('fake git');
  await writeFile(
    path,
    `#!/bin/sh\nif [ "$1" = version ]; then echo 'git version ${version}'; exit 0; fi\n${script}\n`,
  );
  await chmod(path, 0o755);
  return path;
}

describe('the git that is found', () => {
  it('says its version, and what it can', () => {
    expect(git.version.text).toMatch(/^2\.\d+/);
    expect(git.version.atLeast(2, 25)).toBe(true);
    expect(git.version.atLeast(2, 999)).toBe(false);
    expect(git.version.atLeast(3, 0)).toBe(false);
  });

  it('is refused when there is none, or it is something else', async () => {
    const cwd = folder.path;
    await expect(Git.find({ file: at('nothing'), cwd })).rejects.toMatchObject({ code: 'git_unusable' });
    await writeFile(at('other'), '#!/bin/sh\necho hello\n');
    await chmod(at('other'), 0o755);
    await expect(Git.find({ file: at('other'), cwd })).rejects.toMatchObject({ code: 'git_unusable' });
  });

  it.runIf(posix)('is refused when it is older than 2.25, with both versions named', async () => {
    const cwd = folder.path;
    await expect(Git.find({ file: await fakeGit('', '2.24.4'), cwd })).rejects.toMatchObject({
      code: 'git_unusable',
      message: expect.stringContaining('2.24.4'),
      hint: expect.stringContaining('2.25'),
    });
    expect((await Git.find({ file: await fakeGit('', '2.25.0'), cwd })).version.text).toBe('2.25.0');
    const windows = await Git.find({ file: await fakeGit('', '2.47.1.windows.2'), cwd });
    expect(windows.version.atLeast(2, 47)).toBe(true);
  });
});

describe('a call', () => {
  it('B91 gives bytes: names with quotes, line breaks and letters of any script, and content', async () => {
    const content = Buffer.from([0, 255, 10, 13, 10, 200, 128]);
    const names = ['файл ü.txt', 'a "quoted" name', ...(posix ? ['line\nbreak', 'tab\there'] : [])].sort();
    const path = await makeRepository(at('目录 with space'), Object.fromEntries(names.map((name) => [name, content])));
    const listed = await git.records(path, ['ls-files', '-z']);
    expect(listed.map(String).sort()).toEqual(names);
    const { stdout } = await git.run(path, ['show', 'HEAD:файл ü.txt']);
    expect(stdout).toEqual(content);
    expect(splitRecords(Buffer.from('a\0\0b'))).toEqual([Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')]);
  });

  it('knows nothing of a repository that an outer git has in hand', async () => {
    const mine = await makeRepository(at('mine'));
    const other = await makeRepository(at('other'));
    const env = {
      ...process.env,
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, '.git', 'index'),
      GIT_OBJECT_DIRECTORY: join(other, '.git', 'objects'),
      GIT_NAMESPACE: 'x',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.bare',
      GIT_CONFIG_VALUE_0: 'true',
    };
    const inHook = await Git.find({ env, cwd: mine });
    expect(await inHook.line(mine, ['rev-parse', '--show-toplevel'])).toBe(mine);
    expect(await inHook.line(mine, ['config', '--get', 'core.bare'])).toBe('false');
  });

  it('that fails says the command and what git said; one whose exit code is an answer does not', async () => {
    const path = await makeRepository(at('repo'));
    await expect(git.run(path, ['rev-parse', '--verify', 'nothing'])).rejects.toMatchObject({
      code: 'git_failed',
      message: 'git rev-parse --verify failed: fatal: Needed a single revision.',
    });
    expect(await git.lineIfAny(path, ['rev-parse', '--verify', '--quiet', 'nothing'])).toBeUndefined();
    expect((await git.run(path, ['diff', '--no-index', 'a.txt', 'src/b.txt'], { accept: [1] })).exitCode).toBe(1);
    await expect(git.run(at('nowhere'), ['status'])).rejects.toMatchObject({ code: 'git_failed' });
  });

  it('knows no ref from not being able to tell', async () => {
    const path = await makeRepository(at('repo'));
    expect(await git.tipOf(path, 'refs/heads/main')).toMatch(/^[0-9a-f]{40}$/);
    expect(await git.tipOf(path, 'refs/heads/other')).toBeUndefined();
    await expect(git.tipOf(folder.path, 'refs/heads/main')).rejects.toMatchObject({ code: 'git_failed' });
  });

  it('takes input and hands output on piece by piece, waiting for each', async () => {
    const path = await makeRepository(at('repo'));
    const content = Buffer.alloc(3 * 1024 * 1024, 'pi lanes ');
    const hash = await git.line(path, ['hash-object', '-w', '--stdin'], { input: content });
    const chunks: Buffer[] = [];
    let atWork = 0;
    await git.run(path, ['cat-file', 'blob', hash], {
      sink: async (chunk) => {
        expect(++atWork).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        chunks.push(chunk);
        atWork--;
      },
    });
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    const broken = git.run(path, ['cat-file', 'blob', hash], { sink: () => Promise.reject(new Error('disk full')) });
    await expect(broken).rejects.toMatchObject({ code: 'git_failed', message: expect.stringContaining('disk full') });
  });

  it.runIf(posix)('is ended with everything it started, at its deadline and when it is called off', async () => {
    const slow = await Git.find({
      file: await fakeGit(`sleep 4242 & echo $! > '${at('pid').replaceAll("'", "'\\''")}'; sleep 4243`),
      cwd: folder.path,
    });
    const isGone = async () => {
      const pid = Number(await readFile(at('pid'), 'utf8'));
      expect(pid).toBeGreaterThan(1);
      expect((await listProcesses())?.some((one) => one.pid === pid)).toBe(false);
      await rm(at('pid'));
    };
    await expect(slow.run(folder.path, ['status'], { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'git_failed',
      message: 'git status took longer than 1 seconds and was ended.',
    });
    await isGone();
    const controller = new AbortController();
    const running = slow.run(folder.path, ['status'], { signal: controller.signal });
    await waitFor('git to work', async () => (await readFile(at('pid'), 'utf8').catch(() => '')) !== '');
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'git_failed', message: expect.stringContaining('stopped') });
    await isGone();
    await expect(slow.run(folder.path, ['status'], { signal: controller.signal })).rejects.toThrow();
  });

  it.runIf(posix)('ends although something git started holds its output open', async () => {
    const script = 'sleep 30 & echo $! >&2; echo done';
    const daemon = await Git.find({ file: await fakeGit(script), cwd: folder.path });
    const began = performance.now();
    const answer = await daemon.run(folder.path, ['gc']);
    expect(answer.stdout.toString()).toBe('done\n');
    expect(performance.now() - began).toBeLessThan(15_000);
    process.kill(Number(answer.stderr));
  });

  it('is done again while another git holds a lock file', async () => {
    const path = await makeRepository(at('repo'));
    const lock = join(path, '.git', 'refs', 'heads', 'side.lock');
    await writeFile(lock, '');
    const made = git.run(path, ['update-ref', 'refs/heads/side', 'HEAD']);
    // It was refused at least once: git takes a few milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await rm(lock);
    await made;
    expect(await setUp(path, 'rev-parse', 'side')).toBe(await setUp(path, 'rev-parse', 'main'));
    await writeFile(lock, '');
    const once = git.run(path, ['update-ref', 'refs/heads/side', 'HEAD~0'], { retry: false });
    await expect(once).rejects.toMatchObject({ code: 'git_failed', message: expect.stringContaining('another git') });
  });

  it('tells a lock from other refusals', () => {
    expect(isLocked("fatal: Unable to create '/a b/.git/index.lock': File exists.\n\nAnother git process")).toBe(true);
    expect(isLocked('error: could not lock config file /r/.git/config: File exists')).toBe(true);
    expect(isLocked("fatal: cannot lock ref 'refs/heads/pi/x': 'refs/heads/pi' exists; cannot create")).toBe(false);
    expect(isLocked("error: cannot lock ref 'refs/heads/x': is at 1 but expected 2")).toBe(false);
  });

  it.runIf(posix)('runs hooks of the repository only where it says so', async () => {
    const path = await makeRepository(at('repo'));
    const hook = join(path, '.git', 'hooks', 'post-checkout');
    await mkdir(join(path, '.git', 'hooks'), { recursive: true });
    await writeFile(hook, `#!/bin/sh\necho ran > '${at('ran').replaceAll("'", "'\\''")}'\n`);
    await chmod(hook, 0o755);
    await git.run(path, ['checkout', '--quiet', '-b', 'one']);
    await expect(readFile(at('ran'))).rejects.toThrow();
    await git.run(path, ['checkout', '--quiet', '-b', 'two'], { hooks: true });
    expect(await readFile(at('ran'), 'utf8')).toBe('ran\n');
  });
});

describe('the worktrees git has', () => {
  it('are told with branch, lock and loss', async () => {
    const path = await makeRepository(at('repo'));
    await setUp(path, 'worktree', 'add', '--quiet', '-b', 'side', at('дерево "one"'));
    await setUp(path, 'worktree', 'add', '--quiet', '--detach', at('gone'));
    await setUp(path, 'worktree', 'lock', '--reason', 'on a stick', at('дерево "one"'));
    await rm(at('gone'), { recursive: true });
    const head = await setUp(path, 'rev-parse', 'HEAD');
    const listed = await listWorktrees(git, path);
    expect(listed[0]?.path).toBe(path);
    expect(listed.sort((a, b) => Number(a.prunable) - Number(b.prunable))).toEqual([
      { path, branch: 'refs/heads/main', head, bare: false, prunable: false },
      { path: at('дерево "one"'), branch: 'refs/heads/side', head, bare: false, prunable: false, locked: 'on a stick' },
      { path: at('gone'), head, bare: false, prunable: true },
    ]);
  });

  it('are read with and without -z', () => {
    const fields = ['worktree /a', 'bare', '', 'worktree /b c', 'HEAD 12', 'detached', 'locked', ''];
    expect(parseWorktrees(fields)).toEqual([
      { path: '/a', bare: true, prunable: false },
      { path: '/b c', head: '12', bare: false, prunable: false, locked: '' },
    ]);
  });
});

describe('the lock of a repository', () => {
  it('lets one change in after the other, in the order they came, whatever becomes of each', async () => {
    const lock = new RepositoryLock(at('locks', 'repository'));
    const order: number[] = [];
    let inside = 0;
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) =>
        lock.run(`change ${n}`, async () => {
          expect(++inside).toBe(1);
          await new Promise((resolve) => setImmediate(resolve));
          inside--;
          order.push(n);
          if (n === 3) throw new Error('no');
          return n;
        }),
      ),
    );
    expect(order).toEqual(Array.from({ length: 12 }, (_, n) => n));
    expect(results.map(({ status }) => status === 'rejected')).toEqual(order.map((n) => n === 3));
    expect(await inspectLock(at('locks', 'repository'))).toMatchObject({ state: 'missing', epoch: 12 });
  });

  it('is one for all that name it, and is waited for until that is called off', async () => {
    const [one, other] = [new RepositoryLock(at('repository')), new RepositoryLock(at('repository'))];
    let release = () => {};
    const held = one.run('first', () => new Promise<void>((resolve) => (release = resolve)));
    await waitFor('the lock', async () => (await inspectLock(at('repository'))).state === 'held');
    const controller = new AbortController();
    const waiting = other.run('second', async () => 'never', { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
    const third = other.run('third', async () => 'done');
    release();
    expect(await third).toBe('done');
    await held;
  });

  it.runIf(process.platform === 'linux')('is kept when git could not be proven to have ended', async () => {
    const lock = new RepositoryLock(at('repository'));
    const { lanesError } = await import('../../src/protocol/index.ts');
    const unproven = lock.run('change', () => Promise.reject(lanesError('git_failed:unproven', { command: 'git x' })));
    await expect(unproven).rejects.toMatchObject({ code: 'git_failed' });
    expect(await inspectLock(at('repository'))).toMatchObject({ state: 'held', owner: { purpose: 'change' } });
  });

  it('of a process that died is taken', async () => {
    const holder = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `import { acquireLock } from ${JSON.stringify(new URL('../../src/core/locks/index.ts', import.meta.url).href)};
       await acquireLock(${JSON.stringify(at('repository'))}, { purpose: 'dead' }); process.exit(0);`,
    ]);
    await new Promise((resolve) => holder.once('exit', resolve));
    expect(await inspectLock(at('repository'))).toMatchObject({ state: 'stale' });
    expect(await new RepositoryLock(at('repository')).run('next', async () => 7)).toBe(7);
  });
});

import { execFile } from 'node:child_process';
import { chown, mkdir, readdir, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { gitEnvironment } from '../../src/core/git/index.ts';
import { ensureProject, findProject, type Project } from '../../src/core/projects/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

const posix = process.platform !== 'win32';
const AGENT = join('/', 'agent dir');
let folder: TempDir;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await folder.remove();
});

/** Git with a configuration of its own. */
async function git(cwd: string, ...args: string[]): Promise<string> {
  const config = {
    'user.name': 'Test',
    'user.email': 'test@example.com',
    'init.defaultBranch': 'main',
    'protocol.file.allow': 'always',
  };
  const options = Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { stdout } = await promisify(execFile)('git', [...options, ...args], { cwd, env: gitEnvironment() });
  return stdout;
}

/** A repository with one commit. */
async function repository(path: string): Promise<string> {
  await mkdir(join(path, 'src', 'инструмент ü'), { recursive: true });
  await git(path, 'init', '--quiet');
  await writeFile(join(path, 'src', 'инструмент ü', 'файл ü.txt'), 'x');
  await git(path, 'add', '.');
  await git(path, 'commit', '--quiet', '-m', 'first');
  return path;
}

const find = (path: string, fallbackRoot?: string): Promise<Project> => findProject(AGENT, path, fallbackRoot);

describe('a folder in a repository', () => {
  it('B91 belongs to one project, from every subfolder and worktree, whatever their names', async () => {
    const main = await repository(at('目录 with "quotes" и пробел'));
    await git(main, 'worktree', 'add', '--quiet', '-b', 'side', at('дерево 🌲 one'));
    await git(main, 'worktree', 'add', '--quiet', '--detach', join(main, 'inner tree'));
    const project = await find(main);
    expect(project).toMatchObject({ kind: 'git', key: join(main, '.git'), title: basename(main) });
    expect(project.name).toMatch(/^with-quotes-[0-9a-f]{16}$/);
    expect(project.layout.directory).toBe(join(AGENT, 'pi-lanes', 'projects', project.name));
    const others = [
      join(main, 'src', 'инструмент ü'),
      join(main, '.git'),
      join(main, '.git', 'objects'),
      at('дерево 🌲 one'),
      at('дерево 🌲 one', 'src', 'инструмент ü'),
      join(main, 'inner tree', 'src'),
    ];
    for (const other of others) expect(await find(other), other).toEqual(project);
    expect(await find(main, folder.path)).toEqual(project);
  });

  it.runIf(posix)('B91 belongs to it also when there is a line break in a name', async () => {
    const main = await repository(at('line\nbreak'));
    await git(main, 'worktree', 'add', '--quiet', '-b', 'side', at('another\n\nline '));
    const project = await find(join(main, 'src'));
    expect(project).toMatchObject({ kind: 'git', key: join(main, '.git'), title: 'line\nbreak' });
    expect(project.name).toMatch(/^line-break-[0-9a-f]{16}$/);
    expect(await find(at('another\n\nline '))).toEqual(project);
  });

  it.runIf(posix)('belongs to it by every path that leads there', async () => {
    const main = await repository(at('real'));
    await symlink(main, at('link'));
    await symlink(join(main, 'src'), at('deep link'));
    const project = await find(main);
    for (const path of [at('link'), at('link', 'src'), at('deep link'), join(main, 'src', '..')])
      expect(await find(path), path).toEqual(project);
  });

  it('belongs to the bare repository, and so does a worktree of it', async () => {
    await repository(at('source'));
    const bare = at('öffentlich repo.git');
    await git(at('source'), 'clone', '--quiet', '--bare', '.', bare);
    const project = await find(bare);
    expect(project).toMatchObject({ kind: 'git', key: bare, title: 'öffentlich repo' });
    await git(bare, 'worktree', 'add', '--quiet', at('tree'), 'main');
    expect(await find(at('tree', 'src'))).toEqual(project);
    expect(await find(join(bare, 'objects'))).toEqual(project);
  });

  it('belongs to the submodule it lies in, not to the repository around it', async () => {
    await repository(at('lib ü'));
    const main = await repository(at('main'));
    await git(main, 'submodule', '--quiet', 'add', at('lib ü'), 'vendor/lib ü');
    const project = await find(join(main, 'vendor', 'lib ü', 'src'));
    expect(project).toMatchObject({
      kind: 'git',
      key: join(main, '.git', 'modules', 'vendor', 'lib ü'),
      title: 'lib ü',
    });
    expect(await find(join(main, 'vendor'))).toMatchObject({ key: join(main, '.git') });
  });

  it('belongs to the innermost repository', async () => {
    const outer = await repository(at('outer'));
    const inner = await repository(join(outer, 'ignored', 'inner'));
    expect((await find(join(inner, 'src'))).key).toBe(join(inner, '.git'));
    expect((await find(join(outer, 'ignored'))).key).toBe(join(outer, '.git'));
  });

  it('belongs to its own repository whatever repository an outer git has in hand', async () => {
    const mine = await repository(at('mine'));
    const other = await repository(at('other'));
    const expected = await find(mine);
    const hints = {
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_COMMON_DIR: join(other, '.git'),
      GIT_INDEX_FILE: join(other, '.git', 'index'),
      GIT_CEILING_DIRECTORIES: mine,
      GIT_PREFIX: 'src/',
    };
    for (const [name, value] of Object.entries(hints)) vi.stubEnv(name, value);
    expect(await find(join(mine, 'src'))).toEqual(expected);
    const names = Object.keys(gitEnvironment()).filter((name) => name.startsWith('GIT_'));
    expect(names).toEqual(['GIT_OPTIONAL_LOCKS']);
    expect(gitEnvironment({ LC_ALL: 'de_DE', VSCODE_PID: '1', HOME: '/x' })).toEqual({
      LC_ALL: 'C',
      GIT_OPTIONAL_LOCKS: '0',
      HOME: '/x',
    });
  });

  it('is another project after it was moved, and two clones are two', async () => {
    const main = await repository(at('one'));
    const before = await find(main);
    await git(folder.path, 'clone', '--quiet', main, at('two'));
    expect((await find(at('two'))).name).not.toBe(before.name);
    await rename(main, at('three'));
    expect((await find(at('three'))).name).not.toBe(before.name);
  });
});

describe('a repository that cannot be told', () => {
  it('is an error with the cure when git is not on PATH', async () => {
    const main = await repository(at('main'));
    await mkdir(at('empty'));
    vi.stubEnv('PATH', at('empty'));
    await expect(find(main)).rejects.toMatchObject({
      code: 'project_unreadable',
      message: expect.stringMatching(/which repository .*main belongs to: .*ENOENT/),
      hint: expect.stringMatching(/git is installed and on PATH/),
    });
    // Where there is no repository, git is not needed.
    expect(await find(at('empty'))).toMatchObject({ kind: 'folder' });
  });

  it('is an error when a worktree has lost its repository, not a folder outside git', async () => {
    const main = await repository(at('main'));
    await git(main, 'worktree', 'add', '--quiet', '-b', 'side', at('tree'));
    await rm(main, { recursive: true });
    await expect(find(at('tree'))).rejects.toMatchObject({
      code: 'project_unreadable',
      message: expect.stringContaining('not a git repository'),
    });
  });

  it.runIf(process.getuid?.() === 0)("is an error with git's own words when git does not trust its owner", async () => {
    const main = await repository(at('main'));
    await chown(main, 12_345, 12_345);
    await chown(join(main, '.git'), 12_345, 12_345);
    vi.stubEnv('HOME', at('nobody'));
    vi.stubEnv('SUDO_UID', undefined);
    await expect(find(main)).rejects.toMatchObject({
      code: 'project_unreadable',
      message: expect.stringContaining('dubious ownership'),
    });
  });
});

describe('a folder outside git', () => {
  it("belongs to the nearest folder with Pi's resources", async () => {
    const deep = at('проект', 'a', 'b');
    await mkdir(deep, { recursive: true });
    await mkdir(at('проект', '.pi'));
    expect(await find(deep)).toMatchObject({ kind: 'folder', key: at('проект'), title: 'проект' });
    expect((await find(deep)).name).toMatch(/^project-[0-9a-f]{16}$/);
    await mkdir(at('проект', 'a', '.agents'));
    expect(await find(deep)).toMatchObject({ key: at('проект', 'a') });
    expect(await find(at('проект'))).toMatchObject({ key: at('проект') });
  });

  it('is its own project without any', async () => {
    await mkdir(at('plain', 'sub'), { recursive: true });
    expect(await find(at('plain', 'sub'))).toMatchObject({ kind: 'folder', key: at('plain', 'sub') });
  });

  it('does not belong to the home folder, where the resources of all projects are', async () => {
    await mkdir(at('home', 'work', 'x'), { recursive: true });
    await mkdir(at('home', '.pi'));
    vi.stubEnv('HOME', at('home'));
    vi.stubEnv('USERPROFILE', at('home'));
    expect((await find(at('home', 'work', 'x'))).key).toBe(at('home', 'work', 'x'));
    expect((await find(at('home'))).key).toBe(at('home'));
  });

  it.runIf(posix)('belongs to the root it is given, by its real path', async () => {
    await mkdir(at('plain', 'sub'), { recursive: true });
    await mkdir(at('plain', 'sub', '.pi'));
    await symlink(at('plain'), at('link'));
    expect(await find(at('plain', 'sub'), at('link'))).toMatchObject({
      kind: 'folder',
      key: at('plain'),
      title: 'plain',
    });
  });

  it('is outside git although it holds what only looks like a repository', async () => {
    await mkdir(at('fake', '.git'), { recursive: true });
    await mkdir(at('head'));
    await writeFile(at('head', 'HEAD'), 'not git');
    for (const name of ['fake', 'head']) expect(await find(at(name))).toMatchObject({ kind: 'folder', key: at(name) });
  });

  it('has a name that is safe as a file name, however it is called', async () => {
    const names: [string, RegExp][] = [
      ['Über Größe', /^Uber-Gro-e-[0-9a-f]{16}$/],
      ['..hidden..', /^hidden-[0-9a-f]{16}$/],
      ['x'.repeat(100), /^x{40}-[0-9a-f]{16}$/],
      ['🦊', /^project-[0-9a-f]{16}$/],
      ['a.b_c-1', /^a\.b_c-1-[0-9a-f]{16}$/],
    ];
    for (const [name, expected] of names) {
      await mkdir(at(name));
      expect((await find(at(name))).name, name).toMatch(expected);
    }
  });
});

describe('the store of a project', () => {
  it('is made by many at once, says what it belongs to, and is private', async () => {
    const main = await repository(at('目录'));
    const agentDir = at('agent');
    const project = await findProject(agentDir, main);
    await Promise.all(Array.from({ length: 10 }, () => ensureProject(project)));
    const { layout } = project;
    expect(JSON.parse(await readFile(layout.identity, 'utf8'))).toEqual({
      version: 1,
      kind: 'git',
      key: join(await realpath(main), '.git'),
      title: '目录',
      formerKeys: [],
    });
    expect((await readdir(layout.directory)).sort()).toEqual(['active', 'project.json', 'runs', 'starting']);
    if (posix) {
      for (const path of [layout.directory, layout.runs, layout.active, layout.starting])
        expect((await stat(path)).mode & 0o777).toBe(0o700);
      expect((await stat(layout.identity)).mode & 0o777).toBe(0o600);
    }
  });

  it('keeps what it knows of itself', async () => {
    await mkdir(at('plain'));
    const project = await findProject(at('agent'), at('plain'));
    await ensureProject(project);
    await writeFile(project.layout.identity, '{"mine":true}');
    await ensureProject(project);
    expect(await readFile(project.layout.identity, 'utf8')).toBe('{"mine":true}');
  });
});

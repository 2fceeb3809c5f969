/** Installing Pi into our own folder: what is offered, that a copy appears whole or not at all, and one install at a time. */
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock } from '../../src/core/locks/index.ts';
import { liveness, processStart } from '../../src/core/processes/index.ts';
import {
  compareVersions,
  findNpm,
  findPi,
  type InstallPiOptions,
  type InstallStep,
  installPi,
  OFFERED_PI,
  offerPi,
  PI_PACKAGE,
  ProbeCache,
} from '../../src/core/toolchain/index.ts';
import { installedCopies } from '../../src/core/toolchain/installed-pi.ts';
import { projectRoot } from '../support/project-root.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';

const FAKE_NPM = join(projectRoot(), 'test', 'unit', 'workers', 'fake-npm.mjs');
const node = { file: process.execPath, electron: false };

let folder: TempDir;
const at = (...parts: string[]) => join(folder.path, ...parts);
const installed = () => at('pi');

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  await npmOffers([{ version: '1.6.2' }]);
});
afterEach(() => folder.remove());

const npmOffers = (published: unknown) => writeFile(at('published.json'), JSON.stringify(published));
const npmDoes = (mode: 'works' | 'fails' | 'hangs' | 'incomplete' | 'lies') => writeFile(at('mode'), mode);

function options(signal?: AbortSignal): InstallPiOptions {
  const env = { PATH: '', FAKE_NPM: folder.path };
  const npm = { command: { file: process.execPath, args: [FAKE_NPM] }, env };
  return { npm, env, node, installed: installed(), cache: new ProbeCache(at('cache')), signal };
}

async function calls(): Promise<{ args: string[]; cwd: string; pid: number }[]> {
  const text = await readFile(at('calls'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const offer = (version = '1.6.2') => ({ version, registry: 'https://r.example', folder: join(installed(), version) });

async function install(signal?: AbortSignal, steps: InstallStep[] = []) {
  return installPi(offer(), { ...options(signal), onStep: (step) => steps.push(step) });
}

/** What the folder holds, the lock's own file left out. */
const left = async () => (await readdir(installed()).catch(() => [])).filter((name) => !name.startsWith('install.'));

describe('the offer', () => {
  it('is the newest version of those we develop with, and names where it comes from and goes to', async () => {
    await npmOffers(
      ['1.6.2', '1.6.10', '1.6.9'].map((version) => ({
        version,
        'dist.tarball': `https://r.example/a/${version}.tgz`,
      })),
    );
    expect(await offerPi(options())).toEqual(offer('1.6.10'));
    expect((await calls())[0]?.args.slice(0, 2)).toEqual(['view', `${PI_PACKAGE}@${OFFERED_PI}`]);
    await npmOffers({ version: '1.6.0', 'dist.tarball': 'https://r.example/x.tgz' });
    expect((await offerPi(options())).version).toBe('1.6.0');
  });

  it('is of the version that the tests run with', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(projectRoot(), 'package.json'), 'utf8'));
    expect(OFFERED_PI.replace(/\.\d+$/, '')).toBe(`~${devDependencies[PI_PACKAGE].replace(/\.\d+$/, '')}`);
  });

  it.each([
    ['nothing', '', 'pi_install_failed'],
    ['no JSON', 'hello', 'npm_failed'],
    ['another shape', '{"version":1}', 'npm_failed'],
  ])('is refused where npm prints %s', async (_, text, code) => {
    await writeFile(at('published.json'), text);
    await expect(offerPi(options())).rejects.toMatchObject({ code, hint: expect.stringMatching(/npm|same/) });
  });
});

describe('an install', () => {
  it('gives the copy its name when it is whole, and Pi is found there', async () => {
    const steps: InstallStep[] = [];
    const pi = await install(undefined, steps);
    expect(pi).toMatchObject({ version: '1.6.2', place: 'installed', kind: 'script' });
    expect(steps).toEqual(['downloading', 'checking']);
    expect(await left()).toEqual(['1.6.2']);
    expect((await findPi({ ...options(), configured: undefined })).file).toBe(pi.file);
  });

  it('tells npm to stay in the folder, to run no scripts, and which version', async () => {
    await install();
    const [call] = await calls();
    expect(dirname(call?.cwd ?? '')).toBe(installed());
    expect(call?.args).toEqual(expect.arrayContaining(['--prefix', call?.cwd, '--global=false', '--ignore-scripts']));
    expect(call?.args.at(-1)).toBe(`${PI_PACKAGE}@1.6.2`);
  });

  it('of what is there already starts nothing', async () => {
    const first = await install();
    expect((await install()).file).toBe(first.file);
    expect(await calls()).toHaveLength(1);
  });

  it.each([
    ['fails', 'npm_failed', /npm install failed: 404 Not Found - GET http:\/\/x\/pi\./],
    ['incomplete', 'pi_install_failed', /no whole Pi/],
    ['lies', 'pi_install_failed', /said "0\.0\.1"/],
  ] as const)('that %s leaves nothing, and says why', async (mode, code, message) => {
    await npmDoes(mode);
    await expect(install()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await left()).toEqual([]);
    await npmDoes('works');
    expect((await install()).version).toBe('1.6.2');
  });

  it('that is called off ends npm and leaves nothing', async () => {
    await npmDoes('hangs');
    const calledOff = new AbortController();
    const running = install(calledOff.signal);
    running.catch(() => undefined);
    const call = await waitFor('npm', async () => (await calls())[0]);
    const npm = { pid: call.pid, start: (await processStart(call.pid)) ?? null };
    calledOff.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(await liveness(npm)).toBe('gone');
    expect(await left()).toEqual([]);
  });

  it('tidies up what one that was cut off has left, and mends a damaged copy', async () => {
    await mkdir(join(installed(), '.new-1.6.2-0000', 'node_modules'), { recursive: true });
    await mkdir(join(installed(), '1.6.2', 'node_modules', PI_PACKAGE), { recursive: true });
    expect((await install()).version).toBe('1.6.2');
    expect(await left()).toEqual(['1.6.2']);
  });

  it('waits for another, and uses what that has put there', async () => {
    const other = await acquireLock(join(installed(), 'install'), { purpose: 'installing Pi' });
    const steps: InstallStep[] = [];
    const waiting = install(undefined, steps);
    await waitFor('the wait', () => steps.includes('waiting'));
    const home = join(installed(), '1.6.2', 'node_modules', PI_PACKAGE);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'cli.js'), '');
    await writeFile(
      join(home, 'package.json'),
      JSON.stringify({ name: PI_PACKAGE, version: '1.6.2', bin: { pi: 'cli.js' } }),
    );
    await other.release();
    expect((await waiting).version).toBe('1.6.2');
    expect(steps).toEqual(['waiting']);
    expect(await calls()).toEqual([]);
  });

  it('of two at once installs once', async () => {
    const both = await Promise.all([install(), install()]);
    expect(both.map((pi) => pi.file)).toEqual([both[0].file, both[0].file]);
    expect(await calls()).toHaveLength(1);
  });

  it('that waits can be called off', async () => {
    const other = await acquireLock(join(installed(), 'install'), { purpose: 'installing Pi' });
    const calledOff = new AbortController();
    const steps: InstallStep[] = [];
    const waiting = install(calledOff.signal, steps);
    waiting.catch(() => undefined);
    await waitFor('the wait', () => steps.includes('waiting'));
    calledOff.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await other.release();
  });
});

describe('copies', () => {
  it('are folders named by a version, newest first', async () => {
    for (const name of ['1.6.2', '1.6.10', '1.6.10-beta.2', '.new-9.0.0-1', '9.0.0.old', 'install.1'])
      await mkdir(join(installed(), name), { recursive: true });
    const names = (await installedCopies(installed())).map((path) => path.slice(installed().length + 1));
    expect(names).toEqual(['1.6.10', '1.6.10-beta.2', '1.6.2']);
    expect(await installedCopies(at('none'))).toEqual([]);
  });

  it('compare by number, a pre-release before its release', () => {
    const sorted = ['1.10.0', '1.9.0', '2.0.0-rc.10', '2.0.0', '2.0.0-rc.2'].sort(compareVersions);
    expect(sorted).toEqual(['1.9.0', '1.10.0', '2.0.0-rc.2', '2.0.0-rc.10', '2.0.0']);
  });
});

describe('npm', () => {
  const script = async (...parts: string[]) => {
    const file = at(...parts);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '');
    await chmod(file, 0o755);
    return file;
  };
  const MODULE = ['node_modules', 'npm', 'bin', 'npm-cli.js'];

  it.runIf(process.platform !== 'win32')(
    'on PATH is the script behind its link, run by the Node that was found',
    async () => {
      const cli = await script('lib', ...MODULE);
      await mkdir(at('bin'));
      await symlink(cli, at('bin', 'npm'));
      const found = await findNpm(node, { PATH: [at('none'), at('bin')].join(delimiter), HOME: '/h', VSCODE_PID: '1' });
      expect(found.command).toEqual({ file: node.file, args: [cli] });
      expect(found.env).toEqual({ HOME: '/h', PATH: [dirname(node.file), at('none'), at('bin')].join(delimiter) });
    },
  );

  it.runIf(process.platform !== 'win32')('may be a starter of another kind', async () => {
    const starter = await script('bin', 'npm');
    expect((await findNpm(node, { PATH: at('bin') })).command).toEqual({ file: starter, args: [] });
  });

  it('on Windows is the script beside its batch file, never the batch file', async () => {
    await script('a', 'npm.cmd');
    await script('b', 'npm.cmd');
    const cli = await script('b', ...MODULE);
    const env = { Path: [at('a'), at('b')].join(delimiter) };
    expect((await findNpm(node, env, 'win32')).command).toEqual({ file: node.file, args: [cli] });
    const path = Object.entries((await findNpm(node, env, 'win32')).env);
    expect(path).toEqual([['Path', [dirname(node.file), at('a'), at('b')].join(delimiter)]]);
  });

  it.each([
    { nodeFile: ['bin', 'node'], cli: ['lib', ...MODULE] },
    { nodeFile: ['nodejs', 'node.exe'], cli: ['nodejs', ...MODULE] },
  ])('not on PATH is the one beside Node ($nodeFile)', async ({ nodeFile, cli }) => {
    const file = await script(...nodeFile);
    const args = [await script(...cli)];
    expect((await findNpm({ file, electron: false }, { PATH: '' })).command).toEqual({ file, args });
  });

  it('that is nowhere is an error with the cure', async () => {
    await expect(findNpm({ file: at('node'), electron: true }, { PATH: at('none') })).rejects.toMatchObject({
      code: 'npm_not_found',
      message: expect.stringContaining(at('node')),
      hint: expect.stringMatching(/comes with Node/),
    });
  });

  it("is run by the editor's own Node as Node", async () => {
    await script('lib', ...MODULE);
    const { env } = await findNpm({ file: at('bin', 'editor'), electron: true }, { PATH: '' });
    expect(env).toEqual({ PATH: '', ELECTRON_RUN_AS_NODE: '1' });
  });
});

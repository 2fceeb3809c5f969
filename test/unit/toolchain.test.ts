import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { findOnPath } from '../../src/core/toolchain/executables.ts';
import {
  atLeast,
  type FindNodeOptions,
  type FindPiOptions,
  fileStamp,
  findNode,
  findPi,
  ProbeCache,
  parseVersion,
} from '../../src/core/toolchain/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

const posix = process.platform !== 'win32';
const THIS_NODE = process.versions.node;
const PACKAGE = '@earendil-works/pi-coding-agent';

let folder: TempDir;
let cache: ProbeCache;
const at = (...parts: string[]) => join(folder.path, ...parts);

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  cache = new ProbeCache(at('cache'));
});

afterEach(() => folder.remove());

async function write(path: string, content: string, mode = 0o644): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await chmod(path, mode);
  return path;
}

/** A program that a shell runs; it notes each start in `<path>.log`. */
const program = (path: string, script: string) => write(path, `#!/bin/sh\necho x >> "$0.log"\n${script}\n`, 0o755);
const starts = async (path: string) => (await readFile(`${path}.log`, 'utf8').catch(() => '')).split('\n').length - 1;

/** An installed Pi as npm leaves it; its script would fail if it were started. Gives back the path of the script. */
async function piPackage(root: string, version: string, name = PACKAGE): Promise<string> {
  const bin = { pi: 'dist/cli.js' };
  await write(join(root, 'package.json'), JSON.stringify({ name, version, type: 'module', bin }));
  return write(join(root, 'dist', 'cli.js'), '#!/usr/bin/env node\nprocess.exit(9);\n', 0o755);
}

describe('versions', () => {
  it('are read and compared by their numbers', () => {
    expect(parseVersion('v24.21.0')).toEqual([24, 21, 0]);
    expect(parseVersion('pi 0.80.4-beta.1')).toEqual([0, 80, 4]);
    expect(parseVersion('1.6')).toBeUndefined();
    for (const [version, floor] of [
      ['0.80.10', '0.80.4'],
      ['1.0.0', '0.99.9'],
      ['22.19.0', '22.19.0'],
      ['v23.0.0', '22.19.0'],
    ] as const)
      expect(atLeast(version, floor), version).toBe(true);
    for (const [version, floor] of [
      ['0.80.3', '0.80.4'],
      ['0.9.9', '0.80.0'],
      ['nonsense', '0.0.1'],
      ['1.0.0', 'nonsense'],
    ] as const)
      expect(atLeast(version, floor), version).toBe(false);
  });
});

describe('looking on PATH', () => {
  it.runIf(posix)('gives what can be started, in the order of PATH', async () => {
    const files = await Promise.all(['b', 'a'].map((name) => program(at(name, 'pi'), 'true')));
    await write(at('c', 'pi'), 'no right to run');
    await mkdir(at('d', 'pi'), { recursive: true });
    const path = ['b', 'c', 'd', 'nowhere', 'a'].map((name) => at(name));
    expect(await findOnPath('pi', { PATH: [...path, ''].join(delimiter) })).toEqual(files);
    expect(await findOnPath('pi', {})).toEqual([]);
  });

  it('on Windows tries the endings of PATHEXT', async () => {
    const files = await Promise.all(['pi.exe', 'pi.cmd'].map((name) => write(at('bin', name), '')));
    await write(at('bin', 'pi'), '');
    expect(await findOnPath('pi', { Path: at('bin') }, 'win32')).toEqual(files);
    const own = { Path: at('bin'), PATHEXT: '.COM;.CMD' };
    expect(await findOnPath('pi', own, 'win32')).toEqual([files[1]]);
  });
});

describe.runIf(posix)('Node', () => {
  const find = (options: Partial<FindNodeOptions> & { path?: string[] }) =>
    findNode({
      configured: undefined,
      cache,
      self: { file: '/editor', node: '20.9.0', electron: true },
      ...options,
      env: { PATH: (options.path ?? []).join(delimiter) },
    });
  const node = (path: string, version: string) => program(path, `echo v${version}`);

  it('is the one of the setting', async () => {
    const file = await node(at('mine', 'node'), '23.1.0');
    await node(at('bin', 'node'), '24.0.0');
    const found = await find({ configured: file, path: [at('bin')] });
    expect(found).toEqual({ file, version: '23.1.0', origin: 'setting node.path', electron: false });
  });

  it('is named with the place where its path stands, whether it can be used or not', async () => {
    const file = await node(at('mine', 'node'), '23.1.0');
    const configuredIn = 'variable PI_LANES_NODE';
    expect(await find({ configured: file, configuredIn })).toMatchObject({ file, origin: configuredIn });
    await expect(find({ configured: at('none'), configuredIn })).rejects.toMatchObject({
      code: 'node_not_found',
      message: `No Node 22.19.0 or newer was found. Tried ${configuredIn} (${at('none')}): does not run.`,
    });
  });

  it.each<[string, string, RegExp]>([
    ['too old', 'echo v20.11.1', /setting node\.path \(.*node\): is 20\.11\.1\./],
    ['no Node', 'echo hello', /setting node\.path \(.*node\): does not run\./],
    ['failing', 'exit 1', /setting node\.path \(.*node\): does not run\./],
  ])('of a setting that is %s is refused, and no other is taken', async (_, script, why) => {
    const file = await program(at('mine', 'node'), script);
    await node(at('bin', 'node'), '24.0.0');
    await expect(find({ configured: file, path: [at('bin')] })).rejects.toMatchObject({
      code: 'node_not_found',
      message: expect.stringMatching(why),
      hint: expect.stringContaining('22.19.0'),
    });
  });

  it('of a setting that does not exist is refused', async () => {
    await expect(find({ configured: at('none') })).rejects.toMatchObject({
      code: 'node_not_found',
      message: expect.stringContaining(`setting node.path (${at('none')}): does not run`),
    });
  });

  it('is the first on PATH that is new enough, by its real path', async () => {
    await node(at('old', 'node'), '20.11.1');
    const real = await node(at('real', 'node-24'), '24.2.0');
    await mkdir(at('bin'));
    await symlink(real, at('bin', 'node'));
    await node(at('later', 'node'), '24.9.0');
    const found = await find({ path: [at('old'), at('bin'), at('later')] });
    expect(found).toEqual({ file: real, version: '24.2.0', origin: at('bin', 'node'), electron: false });
  });

  it('beside Pi comes first', async () => {
    await node(at('first', 'node'), '22.20.0');
    await program(at('second', 'pi'), 'true');
    const beside = await node(at('second', 'node'), '24.9.0');
    expect((await find({ path: [at('first'), at('second')] })).file).toBe(beside);
  });

  it('is the one of the editor only when there is no other', async () => {
    const self = { file: '/editor', node: '22.19.0', electron: true };
    await node(at('old', 'node'), '22.18.9');
    const found = { file: '/editor', version: '22.19.0', origin: "the editor's own Node", electron: true };
    expect(await find({ self, path: [at('old')] })).toEqual(found);
    const plain = { file: '/node', node: '24.0.0', electron: false };
    expect(await find({ self: plain })).toMatchObject({ file: '/node', origin: 'this process', electron: false });
    await node(at('bin', 'node'), '24.2.0');
    expect(await find({ self, path: [at('bin')] })).toMatchObject({ electron: false, version: '24.2.0' });
  });

  it('B95 that is nowhere is an error that names everything that was tried', async () => {
    await node(at('old', 'node'), '20.11.1');
    await program(at('broken', 'node'), 'exit 1');
    await program(at('beside', 'pi'), 'true');
    const path = [at('old'), at('broken'), at('beside')];
    await expect(find({ path })).rejects.toMatchObject({
      code: 'node_not_found',
      message: `No Node 22.19.0 or newer was found. Tried ${[
        `${at('old', 'node')}: is 20.11.1`,
        `${at('broken', 'node')}: does not run`,
        'the editor (/editor): is 20.9.0',
      ].join('; ')}.`,
      hint: 'Install Node 22.19.0 or newer, or name one in the setting piLanes.node.path (editor) or in PI_LANES_NODE.',
    });
    await expect(find({ path: [at('empty')] })).rejects.toMatchObject({
      message: expect.stringContaining('Tried PATH: has no node; the editor (/editor): is 20.9.0.'),
    });
  });

  it('is asked for its version once, and again when the file changes', async () => {
    const file = await node(at('bin', 'node'), '24.0.0');
    await find({ path: [at('bin')] });
    expect((await find({ path: [at('bin')] })).version).toBe('24.0.0');
    expect(await starts(file)).toBe(1);
    await node(file, '24.10.0');
    expect((await find({ path: [at('bin')] })).version).toBe('24.10.0');
  });

  it('that runs this process is not started to be asked', async () => {
    const found = await find({ configured: process.execPath });
    expect(found).toMatchObject({ file: process.execPath, version: THIS_NODE });
  });
});

describe('Pi', () => {
  const find = (options: Partial<FindPiOptions> & { path?: string[] }) =>
    findPi({
      configured: undefined,
      installed: at('installed'),
      cache,
      node: { file: process.execPath, electron: false },
      ...options,
      env: { PATH: (options.path ?? []).join(delimiter), HOME: folder.path, ...options.env },
    });
  const refusal = (code: string, message: RegExp, hint: RegExp) => ({
    code,
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  });

  it('B95 is found behind each kind of setting, and run by Node', async () => {
    const cli = await piPackage(at('lib', 'node_modules', PACKAGE), '1.6.0');
    const target = `node_modules\\${PACKAGE.replace('/', '\\')}\\dist\\cli.js`;
    const cmd = `@ECHO off\r\nSETLOCAL\r\nCALL :find_dp0\r\nIF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n)\r\n"%_prog%"  "%dp0%\\${target}" %*\r\n`;
    const old = `@"%~dp0\\node.exe"  "%~dp0\\${target}" %*\r\n`;
    const sh = `#!/bin/sh\nbasedir=$(dirname "$0")\nif [ -x "$basedir/node" ]; then\n  exec "$basedir/node"  "$basedir/node_modules/${PACKAGE}/dist/cli.js" "$@"\nelse\n  exec node  "$basedir/node_modules/${PACKAGE}/dist/cli.js" "$@"\nfi\n`;
    const settings = {
      script: cli,
      'package folder': at('lib', 'node_modules', PACKAGE),
      'folder with the package': at('lib'),
      'cmd shim': await write(at('lib', 'pi.cmd'), cmd),
      'old cmd shim': await write(at('lib', 'pi-old.cmd'), old),
      'sh shim': await write(at('lib', 'pi'), sh, 0o755),
    };
    for (const [kind, configured] of Object.entries(settings)) {
      expect(await find({ configured }), kind).toEqual({
        kind: 'script',
        file: cli,
        version: '1.6.0',
        packageName: PACKAGE,
        place: 'configured',
        origin: 'setting pi.path',
      });
    }
  });

  it('is found under its former package name', async () => {
    await piPackage(at('lib'), '0.73.1', '@mariozechner/pi-coding-agent');
    expect(await find({ configured: at('lib') })).toMatchObject({ version: '0.73.1', kind: 'script' });
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['is missing', async () => at('none.js'), /which does not exist/],
    [
      'is a folder without Pi',
      async () => dirname(await write(at('empty', 'x'), '')),
      /is a folder that holds no Pi package/,
    ],
    [
      'is the folder of another package',
      async () => {
        await piPackage(at('other'), '1.6.0', 'left-pad');
        return at('other');
      },
      /is a folder that holds no Pi package/,
    ],
    [
      'is a package whose script was never built',
      async () => {
        await write(
          at('raw', 'package.json'),
          JSON.stringify({ name: PACKAGE, version: '1.6.0', bin: { pi: 'dist/cli.js' } }),
        );
        return at('raw');
      },
      /is a folder that holds no Pi package/,
    ],
    ['is a text', async () => write(at('notes.txt'), 'pi 1.6.0'), /is no Pi/],
    ['is a script that is no Pi', async () => write(at('x.mjs'), 'console.log("hello 1.6.0 there")'), /is no Pi/],
    ['is a script that fails', async () => write(at('x.cjs'), 'console.log("1.6.0"); process.exit(1)'), /is no Pi/],
    ['is Node itself', async () => process.execPath, /is no Pi/],
    [
      'is a shim whose package was never built',
      async () => {
        const name = join('node_modules', PACKAGE);
        await write(at(name, 'package.json'), JSON.stringify({ name: PACKAGE, version: '1.6.0' }));
        return write(at('pi'), `#!/bin/sh\nexec node "$basedir/${name}/dist/cli.js"`, 0o755);
      },
      /is no Pi/,
    ],
    ['is a shim whose script is gone', async () => write(at('pi.cmd'), '@"%~dp0\\gone\\cli.js" %*'), /is no Pi/],
  ])('B95 of a setting that %s is refused with the cure', async (_, make, why) => {
    const configured = await make();
    await piPackage(at('installed', '1.6.0', 'node_modules', PACKAGE), '1.6.0');
    await expect(find({ configured })).rejects.toMatchObject(refusal('pi_path_invalid', why, /cli\.js/));
    await expect(find({ configured })).rejects.toThrow(`"${configured}"`);
  });

  it('is named with the place where its path stands, whether it can be used or not', async () => {
    await piPackage(at('lib'), '1.6.0');
    const configuredIn = 'pi.path in /a/config.json';
    expect((await find({ configured: at('lib'), configuredIn })).origin).toBe(configuredIn);
    await expect(find({ configured: at('none'), configuredIn })).rejects.toMatchObject({
      code: 'pi_path_invalid',
      message: `Pi is configured as "${at('none')}" (${configuredIn}), which does not exist.`,
    });
    await expect(find({ configured: at('none') })).rejects.toThrow('(setting pi.path)');
  });

  it('tells its version by itself where no package does, on either stream', async () => {
    const out = await write(at('wrapper.mjs'), 'if (process.argv[2] === "--version") console.log("1.6.0")');
    expect(await find({ configured: out })).toEqual({
      kind: 'script',
      file: out,
      version: '1.6.0',
      packageName: 'pi',
      place: 'configured',
      origin: 'setting pi.path',
    });
    const err = await write(at('older.mjs'), 'console.error("warning: x"); console.error("0.73.1")');
    expect((await find({ configured: err })).version).toBe('0.73.1');
  });

  it.runIf(posix)('can be a program of its own', async () => {
    const file = await program(at('pi'), 'echo 1.6.0');
    expect(await find({ configured: file })).toMatchObject({ kind: 'binary', file, version: '1.6.0' });
    await find({ configured: file });
    expect(await starts(file)).toBe(1);
  });

  it.runIf(posix)('is asked offline, without what the editor put into the environment', async () => {
    const script = '[ "$PI_OFFLINE$NODE_OPTIONS$VSCODE_PID$ELECTRON_RUN_AS_NODE" = 1 ] && echo 1.6.0';
    const configured = await program(at('pi'), script);
    const env = { NODE_OPTIONS: '--bad', VSCODE_PID: '7', ELECTRON_RUN_AS_NODE: '1' };
    expect((await find({ configured, env })).version).toBe('1.6.0');
  });

  it.runIf(posix)("is asked through the editor's own Node as Node, never as a window", async () => {
    const editor = await program(at('editor'), '[ "$ELECTRON_RUN_AS_NODE" = 1 ] && echo 1.6.0');
    const configured = await write(at('wrapper.mjs'), '');
    expect((await find({ configured, node: { file: editor, electron: true } })).version).toBe('1.6.0');
  });

  it.runIf(posix)('B95 on PATH is the script behind its link', async () => {
    const cli = await piPackage(at('lib', 'node_modules', PACKAGE), '1.6.0');
    await mkdir(at('bin'));
    await symlink(cli, at('bin', 'pi'));
    expect(await find({ path: [at('empty'), at('bin')] })).toMatchObject({
      kind: 'script',
      file: cli,
      version: '1.6.0',
      place: 'path',
      origin: `pi on PATH (${at('bin', 'pi')})`,
    });
  });

  it.runIf(posix)('on PATH is passed over where it is another program', async () => {
    await program(at('a', 'pi'), 'echo 3.14159');
    const real = await program(at('b', 'pi'), 'echo 1.6.0');
    expect((await find({ path: [at('a'), at('b')] })).file).toBe(real);
    await expect(find({ path: [at('a')] })).rejects.toMatchObject(
      refusal('pi_not_found', /what PATH has is no Pi \(.*a\/pi\)/, /npm install -g .*piLanes\.pi\.path/),
    );
  });

  it.runIf(posix)(
    'of the setting comes before PATH, and PATH before the installed copy, of which the newest counts',
    async () => {
      for (const version of ['0.80.9', '0.80.10', 'not-a-version', '.new-9.9.9-1a2b'])
        await piPackage(at('installed', version, 'node_modules', PACKAGE), version);
      expect(await find({})).toMatchObject({
        version: '0.80.10',
        place: 'installed',
        origin: `installed by Pi Lanes in ${at('installed', '0.80.10')}`,
      });
      await program(at('bin', 'pi'), 'echo 1.5.0');
      expect((await find({ path: [at('bin')] })).version).toBe('1.5.0');
      const configured = await piPackage(at('mine'), '1.6.0');
      expect((await find({ configured, path: [at('bin')] })).version).toBe('1.6.0');
    },
  );

  it('that is damaged where it was installed is passed over for an older copy', async () => {
    await piPackage(at('installed', '1.6.1', 'node_modules', PACKAGE), '1.6.1');
    await mkdir(at('installed', '1.6.2', 'node_modules', PACKAGE), { recursive: true });
    expect((await find({})).version).toBe('1.6.1');
  });

  it.runIf(posix)('that is too old on PATH is passed over for the installed copy', async () => {
    await program(at('bin', 'pi'), 'echo 0.50.0');
    await expect(find({ path: [at('bin')] })).rejects.toMatchObject({ code: 'pi_too_old' });
    await piPackage(at('installed', '1.6.1', 'node_modules', PACKAGE), '1.6.1');
    expect((await find({ path: [at('bin')] })).version).toBe('1.6.1');
  });

  it('B95 that is nowhere is an error with the cure', async () => {
    await expect(find({ path: [at('empty')] })).rejects.toMatchObject(
      refusal(
        'pi_not_found',
        /no path is configured, there is no `pi` on PATH, and no copy is installed in .*installed\./,
        /Install Pi….*npm install -g .*piLanes\.pi\.path/,
      ),
    );
  });

  it('B95 that is too old is refused, and the oldest that works is not', async () => {
    const configured = await piPackage(at('old'), '0.60.0');
    await expect(find({ configured })).rejects.toMatchObject(
      refusal('pi_too_old', /^Pi 0\.60\.0 \(.*cli\.js\) is too old; Pi Lanes needs 0\.73\.0/, /npm install -g/),
    );
    expect((await find({ configured: await piPackage(at('oldest'), '0.73.0') })).version).toBe('0.73.0');
    await expect(find({ configured: await piPackage(at('older'), '0.72.9') })).rejects.toMatchObject({
      code: 'pi_too_old',
    });
  });
});

describe('remembered answers', () => {
  const schema = z.object({ version: z.string() });

  it('are given back to every cache on the same folder, by kind and key', async () => {
    expect(await cache.get('a', 'k', schema)).toBeUndefined();
    await cache.set('a', 'k', { version: '1' });
    await cache.set('a', 'other key', { version: '2' });
    await cache.set('b', 'k', { version: '3' });
    const again = new ProbeCache(at('cache'));
    expect(await again.get('a', 'k', schema)).toEqual({ version: '1' });
    expect(await again.get('a', 'other key', schema)).toEqual({ version: '2' });
    expect(await again.get('b', 'k', schema)).toEqual({ version: '3' });
  });

  it('are asked for again when they are broken or of another shape', async () => {
    await cache.set('a', 'k', { version: 1 });
    expect(await cache.get('a', 'k', schema)).toBeUndefined();
    for (const name of await readdir(at('cache'))) await writeFile(at('cache', name), '{"version":');
    expect(await cache.get('a', 'k', schema)).toBeUndefined();
  });

  it('from before there was a store are written when there is one', async () => {
    const early = new ProbeCache(at('store', 'cache'));
    await early.set('a', 'k', { version: '1' });
    await early.flush();
    expect(await new ProbeCache(at('store', 'cache')).get('a', 'k', schema)).toBeUndefined();
    await mkdir(at('store'));
    await early.flush();
    expect(await new ProbeCache(at('store', 'cache')).get('a', 'k', schema)).toEqual({ version: '1' });
  });

  it('can be written by many at once', async () => {
    const versions = Array.from({ length: 20 }, (_, i) => `${i}`);
    await Promise.all(versions.map((version) => new ProbeCache(at('cache')).set('a', 'k', { version })));
    expect(versions).toContain((await cache.get('a', 'k', schema))?.version);
  });

  it('belong to a file as it is now', async () => {
    expect(await fileStamp(at('x'))).toBe(`${at('x')}:missing`);
    await write(at('x'), '1');
    const first = await fileStamp(at('x'));
    expect(await fileStamp(at('x'))).toBe(first);
    await write(at('x'), '12');
    expect(await fileStamp(at('x'))).not.toBe(first);
  });
});

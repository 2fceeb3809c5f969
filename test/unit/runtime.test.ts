import { mkdir, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ensureRuntime } from '../../src/client/runtime.ts';
import { type RootLayout, rootLayout, runLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { ended, writeRun } from './builders/run.ts';

/** What copying a file of the bundle does. */
const { copying } = vi.hoisted(() => {
  type Copy = (from: string, to: string) => Promise<void>;
  const file = (from: string, to: string, copyFile: Copy) => copyFile(from, to);
  return { copying: { plain: file, file } };
});
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  return { ...fs, copyFile: (from: string, to: string) => copying.file(from, to, fs.copyFile) };
});

const DAY = 24 * 60 * 60_000;
let folder: TempDir;
let dist: string;
let root: RootLayout;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  dist = join(folder.path, 'dist');
  root = rootLayout(join(folder.path, 'agent'));
  await mkdir(dist);
  await bundle('new');
});

afterEach(async () => {
  copying.file = copying.plain;
  await folder.remove();
});

async function bundle(
  hash: string,
  files: Record<string, string> = { 'runner.mjs': `// ${hash}`, 'engine.wasm': 'w' },
) {
  await writeFile(join(dist, 'runtime.json'), JSON.stringify({ version: '0', hash, files: Object.keys(files) }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(dist, name), content);
}

const ensure = () => ensureRuntime(dist, root);
const present = async () => (await readdir(root.runtime)).sort();

async function age(path: string, ms: number) {
  const then = new Date(Date.now() - ms);
  await utimes(path, then, then);
}

/** A runtime that nobody used for so long. */
async function oldRuntime(name: string, ms: number) {
  await mkdir(join(root.runtime, name), { recursive: true });
  await writeFile(join(root.runtime, name, 'runner.mjs'), '');
  await age(join(root.runtime, name), ms);
}

const project = () => join(root.projects, 'project-1');

describe('the runtime', () => {
  it('is a copy of the bundle, for its owner only', async () => {
    expect(await ensure()).toEqual({ hash: 'new', runner: join(root.runtime, 'new', 'runner.mjs') });
    expect(await readFile(join(root.runtime, 'new', 'runner.mjs'), 'utf8')).toBe('// new');
    expect((await readdir(join(root.runtime, 'new'))).sort()).toEqual(['engine.wasm', 'runner.mjs']);
    if (process.platform !== 'win32') expect((await stat(join(root.runtime, 'new'))).mode & 0o777).toBe(0o700);
  });

  it('B59 is not touched when the bundle changes under the same name', async () => {
    await ensure();
    await bundle('new', { 'runner.mjs': '// NEW', 'engine.wasm': 'W' });
    await ensure();
    expect(await readFile(join(root.runtime, 'new', 'runner.mjs'), 'utf8')).toBe('// new');
    await bundle('newer');
    await ensure();
    expect(await present()).toEqual(['new', 'newer']);
    expect(await readFile(join(root.runtime, 'new', 'runner.mjs'), 'utf8')).toBe('// new');
  });

  it('is made good file by file when it was damaged, and what runs goes on with what it has open', async () => {
    const { runner } = await ensure();
    const at = (name: string) => join(root.runtime, 'new', name);
    const sound = await stat(at('engine.wasm'));
    await using running = await open(runner, 'r');
    await writeFile(runner, '// n');
    await ensure();
    expect(await readFile(runner, 'utf8')).toBe('// new');
    expect(await running.readFile('utf8')).toBe('// n');
    expect((await stat(at('engine.wasm'))).ino).toBe(sound.ino);
    await rm(at('engine.wasm'));
    await writeFile(runner, '');
    await ensure();
    expect(await readFile(runner, 'utf8')).toBe('// new');
    expect(await readFile(at('engine.wasm'), 'utf8')).toBe('w');
    expect((await readdir(join(root.runtime, 'new'))).sort()).toEqual(['engine.wasm', 'runner.mjs']);
  });

  it('is made once by many who want it at the same time', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, ensure));
    expect(new Set(results.map((result) => result.runner))).toEqual(new Set([join(root.runtime, 'new', 'runner.mjs')]));
    expect(await present()).toEqual(['new']);
    expect(await readFile(join(root.runtime, 'new', 'runner.mjs'), 'utf8')).toBe('// new');
  });

  it('is complete from the moment on that it is there, also while another call copies', async () => {
    const half = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    let calls = 0;
    copying.file = async (from, to, copyFile) => {
      const call = ++calls;
      if (call === 2) {
        await writeFile(to, 'half');
        half.resolve();
        await first.promise;
      }
      await copyFile(from, to);
      if (call === 1) await half.promise;
    };
    await bundle('new', { 'runner.mjs': '// whole' });
    const [one, two] = [ensure(), ensure()];
    const { runner } = await Promise.race([one, two]);
    expect(await readFile(runner, 'utf8')).toBe('// whole');
    first.resolve();
    await Promise.all([one, two]);
    expect(await readFile(runner, 'utf8')).toBe('// whole');
    expect(await present()).toEqual(['new']);
  });

  it('says what could not be copied, and leaves nothing behind', async () => {
    await writeFile(join(dist, 'runtime.json'), JSON.stringify({ version: '0', hash: 'new', files: ['gone.mjs'] }));
    await expect(ensure()).rejects.toMatchObject({ code: 'internal', message: expect.stringMatching(/gone\.mjs/) });
    expect(await present()).toEqual([]);
  });

  it('counts as used again when it is wanted again', async () => {
    await ensure();
    await age(join(root.runtime, 'new'), 9 * DAY);
    await ensure();
    expect(Date.now() - (await stat(join(root.runtime, 'new'))).mtimeMs).toBeLessThan(60_000);
  });
});

describe('old runtimes', () => {
  it('are kept for a day, then removed', async () => {
    await oldRuntime('yesterday', DAY - 60_000);
    await oldRuntime('earlier', DAY + 60_000);
    await ensure();
    expect(await present()).toEqual(['new', 'yesterday']);
  });

  it('are kept while an unfinished run names them', async () => {
    for (const name of ['queued', 'running', 'finished', 'nobodys']) await oldRuntime(name, 9 * DAY);
    await writeRun(project(), { record: { runtime: 'queued' } });
    await writeRun(project(), { record: { runtime: 'running' }, events: [oneOfEach['run.proceeded']] });
    // The marker of a run may outlive it.
    await writeRun(project(), { record: { runtime: 'finished' }, events: [ended('complete')], active: true });
    await ensure();
    expect(await present()).toEqual(['new', 'queued', 'running']);
  });

  it('are all kept when a run cannot be read, for it may name any of them', async () => {
    await oldRuntime('old', 9 * DAY);
    const { directory } = await writeRun(project(), {});
    await writeFile(runLayout(directory).record, '{"version":9}');
    await ensure();
    expect(await present()).toEqual(['new', 'old']);
  });

  it('go although a run is damaged, but for what its record still mentions', async () => {
    for (const name of ['old', 'mentioned']) await oldRuntime(name, 9 * DAY);
    const broken = await writeRun(project(), { events: [oneOfEach['run.proceeded']] });
    await writeFile(runLayout(broken.directory).record, '{"version":1,"runtime":"mentioned"');
    const empty = await writeRun(project(), { record: { runId: newRunId() }, events: [oneOfEach['run.proceeded']] });
    await rm(runLayout(empty.directory).record);
    await mkdir(runLayout(empty.directory).record);
    await ensure();
    expect(await present()).toEqual(['mentioned', 'new']);
  });

  it('are all kept when the projects cannot be listed', async () => {
    await oldRuntime('old', 9 * DAY);
    await mkdir(join(project(), 'active'), { recursive: true });
    // A name too long for the system stands for every failure that is not "there is none".
    const unreadable = { ...root, projects: join(root.root, 'x'.repeat(300)) };
    await ensureRuntime(dist, unreadable);
    expect(await present()).toEqual(['new', 'old']);
  });

  it('are removed although a marker has no run, or a stray file lies among the projects', async () => {
    await oldRuntime('old', 9 * DAY);
    await mkdir(join(project(), 'active'), { recursive: true });
    await writeFile(join(project(), 'active', '01890000-0000-7000-8000-00000000aaaa'), '');
    await writeFile(join(root.projects, '.DS_Store'), '');
    await ensure();
    expect(await present()).toEqual(['new']);
  });

  it('go together with copies that were never finished, but not with those under way', async () => {
    await oldRuntime('.dead.1.aa', 9 * DAY);
    await oldRuntime('.young.2.bb', 1_000);
    await ensure();
    expect(await present()).toEqual(['.young.2.bb', 'new']);
  });
});

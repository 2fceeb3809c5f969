/** Models that are left out for a while, what settings say about models, and where both are kept. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  changeExclusions,
  EXCLUDED_MS,
  holding,
  type ModelExclusion,
  readExclusions,
  readModelBounds,
  withExclusion,
} from '../../../src/core/models/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
});
afterEach(() => folder.remove());

const one = (model: string, since = 1000): ModelExclusion => ({
  model,
  evidence: '429',
  since,
  until: since + EXCLUDED_MS,
});

describe('agent-81 a model that is left out', () => {
  it('is so for a day, or as long as the settings say now', () => {
    expect(holding([one('a/b')], 1000 + EXCLUDED_MS - 1)).toHaveLength(1);
    expect(holding([one('a/b')], 1000 + EXCLUDED_MS)).toEqual([]);
    expect(holding([one('a/b')], 2000, 500)).toEqual([]);
    expect(holding([one('a/b')], 1400, 500)).toEqual([{ ...one('a/b'), until: 1500 }]);
    // A clock that was set back.
    expect(holding([one('a/b', 5 * EXCLUDED_MS)], 1000)).toEqual([]);
  });

  it('is kept once, with a short reason, and at most two hundred are', () => {
    const all = Array.from({ length: 250 }, (_, at) => one(`a/${at}`)).reduce(withExclusion, [] as ModelExclusion[]);
    expect(all).toHaveLength(200);
    expect(all[0]?.model).toBe('a/50');
    const again = withExclusion(all, { ...one('a/60', 2000), evidence: `so\n${'x'.repeat(1000)}` });
    expect(again).toHaveLength(200);
    expect(again.at(-1)).toMatchObject({ model: 'a/60', since: 2000, evidence: expect.stringMatching(/^so x/) });
    expect(again.at(-1)?.evidence.length).toBeLessThanOrEqual(240);
  });

  it('is written for nobody else to read; many writers lose nothing of each other', async () => {
    const file = join(folder.path, 'made', 'here.json');
    await Promise.all(
      Array.from({ length: 8 }, (_, at) => changeExclusions(file, (all) => withExclusion(all, one(`a/${at}`)))),
    );
    expect((await readExclusions(file)).map(({ model }) => model).sort()).toEqual(
      Array.from({ length: 8 }, (_, at) => `a/${at}`),
    );
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('is none where what is kept cannot be read; and nothing to change writes nothing', async () => {
    const file = join(folder.path, 'here.json');
    expect(await readExclusions(file)).toEqual([]);
    await changeExclusions(file, (all) => [...all]);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(file, '{"version":1,"exclusions":[{"model":7}]}');
    expect(await readExclusions(file)).toEqual([]);
  });
});

describe('settings of models', () => {
  const read = async (user: unknown, project?: unknown) => {
    const files = await Promise.all(
      [user, project].map(async (value, at) => {
        const file = join(folder.path, String(at), 'settings.json');
        await mkdir(join(folder.path, String(at)), { recursive: true });
        if (value !== undefined) await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
        return file;
      }),
    );
    return readModelBounds(files);
  };
  const scope = (...allow: string[]) => ({ enforce: true, allow });

  it("agent-82 agent-83 are the project's before the user's, but no project raises the highest level", async () => {
    expect(await read(undefined)).toEqual({});
    const user = { subagents: { modelScope: scope('a/*'), maxThinking: 'medium' } };
    expect(await read(user)).toEqual({ scope: scope('a/*'), maxThinking: 'medium' });
    expect(await read(user, { subagents: { modelScope: scope('b/*'), maxThinking: 'max' } })).toEqual({
      scope: scope('b/*'),
      maxThinking: 'medium',
    });
    expect(await read(user, { subagents: { maxThinking: 'low' } })).toMatchObject({ maxThinking: 'low' });
  });

  it.each([
    ['{', 'settings.json'],
    [{ subagents: { maxThinking: 'lots' } }, 'subagents.maxThinking'],
    [{ subagents: { modelScope: { enforce: true } } }, 'enforce needs patterns in allow'],
    [{ subagents: { modelScope: { enforce: true, allow: [] } } }, 'enforce needs patterns in allow'],
    [{ subagents: { modelScope: { enforce: true, allow: ['a'], agents: { x: { allow: [] } } } } }, 'needs patterns'],
    [{ subagents: { modelScope: { allow: [7] } } }, 'subagents.modelScope.allow'],
  ])('agent-60 agent-61 are refused when they are wrong: %j', async (value, why) => {
    await expect(read(value)).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringContaining(why) });
  });
});

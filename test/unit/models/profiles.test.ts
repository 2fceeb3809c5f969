/** Catalogues of models and the profiles that are made from them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KnownModel } from '../../../src/core/models/index.ts';
import {
  type CatalogueEntry,
  checkProfile,
  classify,
  generateProfile,
  MAX_AGE_MS,
  type ModelCatalogue,
  ProfileStore,
  refreshCatalogue,
} from '../../../src/core/profiles/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';

const model = (name: string, over: Partial<KnownModel> = {}): KnownModel => ({
  name,
  title: name,
  reasoning: false,
  contextWindow: null,
  price: null,
  ...over,
});
const price = (input: number, output: number) => ({ input, output, cacheRead: 0, cacheWrite: 0 });
const entry = (
  name: string,
  cost: CatalogueEntry['cost'],
  quality: CatalogueEntry['quality'],
  over: Partial<CatalogueEntry> = {},
) => ({
  model: name,
  cost,
  quality,
  latency: 'medium' as const,
  priced: true,
  status: 'ok' as const,
  probedAt: 1,
  ...over,
});
const catalogue = (...models: CatalogueEntry[]): ModelCatalogue => ({
  version: 1,
  provider: 'a',
  refreshedAt: 1,
  models,
});

describe('a model is classed', () => {
  it('by its price where that is known, else by its name', () => {
    expect(classify(model('a/x', { price: price(0.1, 0.4) }))).toMatchObject({ cost: 'cheap', priced: true });
    expect(classify(model('a/x', { price: price(3, 15), reasoning: true }))).toMatchObject({
      cost: 'medium',
      quality: 'medium',
    });
    expect(classify(model('a/opus', { price: price(15, 75), reasoning: true }))).toEqual({
      cost: 'expensive',
      quality: 'strong',
      latency: 'slow',
      priced: true,
    });
    expect(classify(model('a/gpt-mini'))).toEqual({ cost: 'cheap', quality: 'weak', latency: 'fast', priced: false });
    expect(classify(model('a/minister'))).toMatchObject({ cost: 'medium', latency: 'medium' });
  });
});

describe('a catalogue', () => {
  const models = Array.from({ length: 11 }, (_, at) => model(`a/m${at}`));

  it('asks each model once, never more than four at a time', async () => {
    let now = 0;
    let most = 0;
    const asked: string[] = [];
    const { models: entries } = await refreshCatalogue({
      provider: 'a',
      models,
      now: 1000,
      probe: async (name) => {
        asked.push(name);
        now += 1;
        most = Math.max(most, now);
        await new Promise(setImmediate);
        now -= 1;
        return name === 'a/m3' ? { status: 'auth', detail: 'no key' } : { status: 'ok' };
      },
    });
    expect(asked.sort()).toEqual(models.map(({ name }) => name).sort());
    expect(most).toBe(4);
    expect(entries.find((one) => one.model === 'a/m3')).toMatchObject({
      status: 'auth',
      detail: 'no key',
      probedAt: 1000,
    });
  });

  it('does not ask again for seven days, unless it must; and asks nobody where that is not wanted', async () => {
    const before = catalogue(entry('a/m0', 'cheap', 'weak', { probedAt: 1000 }), entry('a/gone', 'cheap', 'weak'));
    const asked: string[] = [];
    const refresh = (now: number, force = false) => {
      asked.length = 0;
      const probe = async (name: string) => {
        asked.push(name);
        return { status: 'ok' as const };
      };
      return refreshCatalogue({ provider: 'a', models: models.slice(0, 2), before, now, force, probe });
    };
    const fresh = await refresh(1000 + MAX_AGE_MS - 1);
    expect(asked).toEqual(['a/m1']);
    expect(fresh.models.map((one) => one.model)).toEqual(['a/m0', 'a/m1']);
    await refresh(1000 + MAX_AGE_MS);
    expect(asked).toEqual(['a/m0', 'a/m1']);
    await refresh(1001, true);
    expect(asked).toEqual(['a/m0', 'a/m1']);
    const none = await refreshCatalogue({ provider: 'a', models: models.slice(0, 1), now: 1 });
    expect(none.models).toMatchObject([{ status: 'skipped', probedAt: null }]);
  });
});

describe('a profile', () => {
  const row = [
    entry('a/weak', 'cheap', 'weak'),
    entry('a/fair', 'medium', 'medium'),
    entry('a/best', 'expensive', 'strong'),
  ];
  const modelsOf = (kind: 'quota' | 'quality', ...entries: CatalogueEntry[]) => {
    const overrides = generateProfile(kind, [catalogue(...entries)])?.agentOverrides ?? {};
    return [overrides['scout']?.model, overrides['researcher']?.model, overrides['worker']?.model];
  };

  it('spares or does not, and a sparing one avoids the top', () => {
    expect(modelsOf('quota', ...row)).toEqual(['a/weak', 'a/fair', 'a/fair']);
    expect(modelsOf('quality', ...row)).toEqual(['a/fair', 'a/fair', 'a/best']);
    expect(modelsOf('quota', entry('a/only', 'cheap', 'weak'))).toEqual(['a/only', 'a/only', 'a/only']);
  });

  it('has no model that another beats, and none that does not answer', () => {
    const worse = entry('a/worse', 'expensive', 'medium');
    const dead = entry('a/dead', 'cheap', 'strong', { status: 'auth' });
    expect(modelsOf('quality', ...row, worse, dead)).toEqual(['a/fair', 'a/fair', 'a/best']);
    expect(generateProfile('quota', [catalogue(dead)])).toBeUndefined();
    expect(Object.keys(generateProfile('quality', [catalogue(...row)])?.agentOverrides ?? {})).toEqual([
      'scout',
      'delegate',
      'researcher',
      'worker',
      'reviewer',
      'oracle',
    ]);
  });

  it('is checked against what Pi can use, what has answered, and what may be used', () => {
    const profile = {
      agentOverrides: {
        scout: { model: 'a/weak' },
        worker: { model: 'a/gone', fallbackModels: ['a/dead'] },
        oracle: { model: 'a/best', tools: ['read'] },
        delegate: { model: false as const },
        reviewer: { model: 'inherit' },
      },
    };
    const dead = entry('a/dead', 'cheap', 'weak', { status: 'timeout', detail: 'no answer' });
    const faults = checkProfile(profile, {
      models: [model('a/weak'), model('a/dead'), model('a/best')],
      catalogues: [catalogue(...row, dead)],
      scope: { enforce: true, allow: ['a/weak', 'a/dead'] },
    });
    expect(faults.map(({ agent, model: name, problem }) => [agent, name, problem])).toEqual([
      ['worker', 'a/gone', 'missing'],
      ['worker', 'a/dead', 'unavailable'],
      ['oracle', 'a/best', 'out-of-scope'],
    ]);
  });
});

describe('the files of profiles', () => {
  let folder: TempDir;
  let store: ProfileStore;
  beforeEach(async () => {
    folder = await tempDir({ name: 'awkward' });
    store = new ProfileStore(folder.path);
  });
  afterEach(() => folder.remove());

  it('are read as others write them, unknown fields kept', async () => {
    expect(await store.names()).toEqual([]);
    const value = { agentOverrides: { scout: { model: 'a/x', thinking: 'low' } }, note: 'mine' };
    await mkdir(join(folder.path, 'profiles', 'pi-subagents'), { recursive: true });
    await writeFile(store.fileOf('mine'), JSON.stringify(value));
    expect(await store.names()).toEqual(['mine']);
    expect(await store.read('mine')).toEqual(value);
    await expect(store.read('other')).rejects.toMatchObject({
      code: 'file_not_found',
      hint: expect.stringContaining('mine'),
    });
    for (const name of ['../x', '.x', 'a/b', '', 'x'.repeat(65)])
      expect(() => store.fileOf(name), name).toThrow(expect.objectContaining({ code: 'launch_invalid' }));
  });

  it('of catalogues are kept by provider; a broken one is asked for anew', async () => {
    const one = catalogue(entry('a/x', 'cheap', 'weak'));
    await store.writeCatalogue(one);
    await writeFile(join(folder.path, 'profiles', 'pi-subagents', 'providers', 'b.models.json'), '{');
    expect(await store.catalogues()).toEqual([one]);
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  findModel,
  type KnownModel,
  ModelRegistry,
  modelUnknown,
  parseModels,
  splitLevel,
} from '../../src/core/models/index.ts';
import { ProbeCache } from '../../src/core/toolchain/index.ts';
import { LanesError, lanesError } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

const models = (...names: string[]): KnownModel[] =>
  names.map((name) => ({ name, title: name, reasoning: false, contextWindow: null, price: null }));

const errorOf = (action: () => unknown): LanesError => {
  try {
    action();
  } catch (error) {
    if (error instanceof LanesError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('naming a model', () => {
  const known = models('anthropic/claude-4', 'bedrock/claude-4', 'openai/gpt-5', 'router/acme/gpt-x');

  it('takes the exact name, and an id that only one provider has', () => {
    expect(findModel('bedrock/claude-4', known).name).toBe('bedrock/claude-4');
    expect(findModel('gpt-5', known).name).toBe('openai/gpt-5');
  });

  it('B75 takes an id with a slash, with and without its provider', () => {
    expect(findModel('acme/gpt-x', known).name).toBe('router/acme/gpt-x');
    expect(findModel('router/acme/gpt-x', known).name).toBe('router/acme/gpt-x');
  });

  it('takes the exact name also when it is the id of another', () => {
    expect(findModel('a/b', models('x/a/b', 'a/b')).name).toBe('a/b');
  });

  it('does not choose among several providers', () => {
    expect(errorOf(() => findModel('claude-4', known))).toMatchObject({
      code: 'model_ambiguous',
      message: 'Several providers have a model "claude-4".',
      hint: 'Name one of: anthropic/claude-4, bedrock/claude-4.',
    });
  });

  it.each<[string, string[], string]>([
    ['a/x', ['b/x'], 'b/x'],
    ['openai/claude-4', ['anthropic/claude-4', 'openai/gpt-5'], 'anthropic/claude-4'],
    ['anthropic/claude-4-20250514', ['anthropic/claude-4-20250601'], 'anthropic/claude-4-20250601'],
    ['owner/nam', ['router/owner/name', 'openai/gpt-5'], 'router/owner/name'],
    ['gtp-5', ['anthropic/claude-4', 'openai/gpt-5'], 'openai/gpt-5'],
    ['fake/scripted:bogus', ['fake/scripted'], 'fake/scripted'],
  ])('B75 refuses %s, and names the near match among %j', (wanted, names, near) => {
    expect(errorOf(() => findModel(wanted, models(...names)))).toMatchObject({
      code: 'model_unknown',
      message: `Pi has no usable model "${wanted}".`,
      hint: expect.stringContaining(`Did you mean ${near}?`),
    });
  });

  it('names no match that is not near', () => {
    const error = errorOf(() => findModel('mistral/large-and-quite-different', models('openai/o3')));
    expect(error).toMatchObject({ code: 'model_unknown', hint: expect.stringContaining('pi --list-models') });
    expect(error.hint).not.toContain('o3');
  });

  it('says when there is no model at all', () => {
    expect(modelUnknown('x', [])).toMatchObject({ code: 'model_none', hint: expect.stringContaining('/login') });
    expect(errorOf(() => findModel('a/b', []))).toMatchObject({ code: 'model_none' });
  });
});

describe('the level behind a model', () => {
  it('is taken off, and only where it is one', () => {
    expect(splitLevel('fake/scripted:high')).toEqual({ model: 'fake/scripted', thinking: 'high' });
    expect(splitLevel('a/b:free:xhigh')).toEqual({ model: 'a/b:free', thinking: 'xhigh' });
    for (const text of ['fake/scripted', 'a/b:free', 'a/b:', 'a/b:highest', 'a/high'])
      expect(splitLevel(text)).toEqual({ model: text, thinking: undefined });
    for (const level of ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
      expect(splitLevel(`m:${level}`).thinking).toBe(level);
  });
});

describe("Pi's list of models", () => {
  it('is read', () => {
    const data = {
      models: [
        { id: 'scripted', provider: 'fake', name: 'Scripted', reasoning: true, contextWindow: 128_000, cost: {} },
        { id: 'priced', provider: 'fake', cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
        { id: 'zeros', provider: 'fake', cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
        { id: 'owner/m', provider: 'router' },
      ],
    };
    expect(parseModels(data)).toEqual([
      { name: 'fake/scripted', title: 'Scripted', reasoning: true, contextWindow: 128_000, price: null },
      {
        name: 'fake/priced',
        title: 'priced',
        reasoning: false,
        contextWindow: null,
        price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
      },
      { name: 'fake/zeros', title: 'zeros', reasoning: false, contextWindow: null, price: null },
      { name: 'router/owner/m', title: 'owner/m', reasoning: false, contextWindow: null, price: null },
    ]);
  });

  it('is refused with the field that is wrong', () => {
    expect(errorOf(() => parseModels({ models: [{ id: 'x' }] }))).toMatchObject({
      code: 'pi_failed',
      message: expect.stringContaining('models.0.provider'),
    });
  });
});

describe('the usable models', () => {
  let folder: TempDir;
  let now = 1_000_000;

  beforeEach(async () => {
    folder = await tempDir({ name: 'awkward' });
    await mkdir(join(folder.path, 'agent'));
    await writeFile(join(folder.path, 'pi.js'), '');
    vi.spyOn(Date, 'now').mockImplementation(() => now);
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await folder.remove();
  });

  /** A registry that asks `answer`, and how often it did. */
  function registry(answer: () => string[] | Error, env: NodeJS.ProcessEnv = {}) {
    const probe = vi.fn(async () => {
      const names = answer();
      if (names instanceof Error) throw names;
      return { models: models(...names), defaultModel: names[0] ?? null, defaultThinking: null };
    });
    const options = { agentDir: join(folder.path, 'agent'), piFile: join(folder.path, 'pi.js'), env, probe };
    const cache = new ProbeCache(join(folder.path, 'cache'));
    return { probe, models: new ModelRegistry({ ...options, cache }) };
  }

  it('are asked for once, and remembered by other processes too', async () => {
    const first = registry(() => ['fake/a']);
    expect(await first.models.usable()).toEqual({
      at: now,
      models: models('fake/a'),
      defaultModel: 'fake/a',
      defaultThinking: null,
    });
    await first.models.usable();
    expect(first.probe).toHaveBeenCalledTimes(1);
    const second = registry(() => ['fake/b']);
    expect((await second.models.usable()).defaultModel).toBe('fake/a');
    expect(second.probe).not.toHaveBeenCalled();
  });

  it('are asked for again after an hour', async () => {
    const { probe, models: known } = registry(() => ['fake/a']);
    await known.usable();
    now += 59 * 60_000;
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(1);
    now += 2 * 60_000;
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(2);
  });

  it.each(['models.json', 'auth.json', 'settings.json'])('are asked for again when %s changes', async (name) => {
    const { probe, models: known } = registry(() => ['fake/a']);
    await known.usable();
    await writeFile(join(folder.path, 'agent', name), '{"a":1}');
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(2);
    await writeFile(join(folder.path, 'agent', name), '{"a":12}');
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(3);
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(3);
  });

  it('are asked for again when Pi itself was replaced', async () => {
    const { probe, models: known } = registry(() => ['fake/a']);
    await known.usable();
    await writeFile(join(folder.path, 'pi.js'), 'another');
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(2);
  });

  it('are asked for again when credentials appear or go, whatever their value', async () => {
    const env: NodeJS.ProcessEnv = { HOME: '/x' };
    const { probe, models: known } = registry(() => ['fake/a'], env);
    await known.usable();
    env['EDITOR'] = 'vi';
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(1);
    for (const name of ['ANTHROPIC_API_KEY', 'AWS_PROFILE', 'GH_TOKEN']) {
      const before = probe.mock.calls.length;
      env[name] = 'secret-1';
      await known.usable();
      expect(probe, name).toHaveBeenCalledTimes(before + 1);
      env[name] = 'secret-2';
      await known.usable();
      expect(probe, name).toHaveBeenCalledTimes(before + 1);
    }
    env['GH_TOKEN'] = '';
    await known.usable();
    // Without it there is an answer from before.
    expect(probe).toHaveBeenCalledTimes(4);
  });

  it('are remembered also when Pi makes its files while it is asked', async () => {
    const settings = join(folder.path, 'agent', 'settings.json');
    const { writeFileSync } = await import('node:fs');
    const { probe, models: known } = registry(() => {
      writeFileSync(settings, '{}');
      return ['fake/a'];
    });
    await known.usable();
    await known.usable();
    expect(probe).toHaveBeenCalledTimes(1);
  });

  it('B75 are asked afresh before a name is refused', async () => {
    let names = ['fake/a'];
    const { probe, models: known } = registry(() => names);
    expect(await known.resolve('fake/a')).toMatchObject({ name: 'fake/a' });
    now += 60_000;
    names = ['fake/a', 'fake/new'];
    expect(await known.resolve('fake/new')).toMatchObject({ name: 'fake/new' });
    expect(probe).toHaveBeenCalledTimes(2);
    await expect(known.resolve('fake/never')).rejects.toMatchObject({ code: 'model_unknown' });
    // The answer was only just given: there is nothing to doubt.
    expect(probe).toHaveBeenCalledTimes(2);
    now += 60_000;
    await expect(known.resolve('fake/never')).rejects.toMatchObject({ code: 'model_unknown' });
    expect(probe).toHaveBeenCalledTimes(3);
  });

  it('are asked for once when a name is refused on a fresh answer', async () => {
    const { probe, models: known } = registry(() => ['fake/a']);
    await expect(known.resolve('fake/b')).rejects.toMatchObject({ code: 'model_unknown' });
    expect(probe).toHaveBeenCalledTimes(1);
  });

  it('must be some, also when none is named', async () => {
    const some = registry(() => ['fake/a']);
    expect(await some.models.resolve(undefined)).toBeUndefined();
    now += 2 * 60 * 60_000;
    const none = registry(() => []);
    await expect(none.models.resolve(undefined)).rejects.toMatchObject({ code: 'model_none' });
    await expect(none.models.resolve('fake/a')).rejects.toMatchObject({ code: 'model_none' });
  });

  it('say why Pi could not be asked, and remember nothing of it', async () => {
    let answer: string[] | Error = new Error('no such flag');
    const { probe, models: known } = registry(() => answer);
    await expect(known.usable()).rejects.toMatchObject({
      code: 'pi_failed',
      message: 'Pi could not be asked for its models: no such flag',
      hint: expect.stringContaining('pi --list-models'),
    });
    answer = lanesError('model_none');
    await expect(known.usable()).rejects.toMatchObject({ code: 'model_none' });
    answer = ['fake/a'];
    expect((await known.usable()).models).toHaveLength(1);
    expect(probe).toHaveBeenCalledTimes(3);
  });
});

/** Which model a name means: exactly one, or a refusal that names those it could be. */
import { describe, expect, it } from 'vitest';
import { type ModelEntry, resolveModel } from '../../../src/core/models/index.ts';

const entries = (...names: string[]): ModelEntry[] =>
  names.map((fullId) => {
    const at = fullId.indexOf('/');
    return { provider: fullId.slice(0, at), id: fullId.slice(at + 1), fullId };
  });
const ask = (request: string, names: string[], preferredProvider?: string) =>
  resolveModel({ request, registry: entries(...names), preferredProvider });
const meant = (...args: Parameters<typeof ask>) => {
  const resolution = ask(...args);
  return resolution.ok ? [resolution.full, resolution.match] : resolution.error.code;
};

const MANY = ['anthropic/claude-4', 'bedrock/claude-4', 'openai/gpt-5', 'router/acme/gpt-x'];

describe('the name of a model', () => {
  it('agent-72 has a provider in front of its first slash only where there is such a provider', () => {
    expect(meant('acme/gpt-x', MANY)).toEqual(['router/acme/gpt-x', 'id']);
    expect(meant('router/acme/gpt-x', MANY)).toEqual(['router/acme/gpt-x', 'exact']);
    expect(meant('openai/acme/gpt-x', MANY)).toBe('model_unknown');
    expect(meant('OpenAI/gpt-5', MANY)).toEqual(['openai/gpt-5', 'id']);
    for (const request of ['openai:gpt-5', 'openai.gpt-5'])
      expect(meant(request, MANY)).toEqual(['openai/gpt-5', 'id']);
    expect(meant('gpt-5.1', ['x/gpt-5.1', 'x/gpt-5'])).toEqual(['x/gpt-5.1', 'id']);
  });

  it('agent-73 may be an id alone that one provider has, or the preferred one', () => {
    expect(meant('gpt-5', MANY)).toEqual(['openai/gpt-5', 'id']);
    expect(meant('claude-4', MANY)).toBe('model_ambiguous');
    expect(meant('claude-4', MANY, 'bedrock')).toEqual(['bedrock/claude-4', 'id']);
    expect(meant('claude-4', MANY, 'openai')).toBe('model_ambiguous');
    expect(meant('gpt-5', MANY, 'anthropic')).toEqual(['openai/gpt-5', 'id']);
  });

  it.each([
    ['Claude_4.5', 'anthropic/claude-4-5'],
    ['claude--4-5', 'anthropic/claude-4-5'],
    ['anthropic/claude-4.5', 'anthropic/claude-4-5'],
    ['claude-4-5-20250514', 'anthropic/claude-4-5'],
    ['claude-4-5-2025-05-14', 'anthropic/claude-4-5'],
    ['gpt-5', 'openai/gpt-5-20250807'],
    ['gpt-5-20250807', 'openai/gpt-5-20250807'],
    ['gpt-5-20250806', 'model_unknown'],
    ['claude-4-5-20251399', 'model_unknown'],
    ['claude-4-5-18991231', 'model_unknown'],
    ['openai/claude-4-5', 'model_unknown'],
    ['openai/Claude-4.5', 'model_unknown'],
  ])('agent-74 may be spelled otherwise, but is never that of another provider: %s', (request, expected) => {
    const answer = meant(request, ['anthropic/claude-4-5', 'openai/gpt-5-20250807']);
    expect(Array.isArray(answer) ? answer[0] : answer).toBe(expected);
  });

  it('agent-74 in another spelling does not choose between several', () => {
    const two = ['a/m-1-20250101', 'a/m-1-20250202', 'b/M.2', 'c/m_2'];
    expect(meant('m-1', two)).toBe('model_ambiguous');
    expect(meant('m-2', two)).toBe('model_ambiguous');
    expect(meant('m-2', two, 'c')).toEqual(['c/m_2', 'spelling']);
  });

  it.each(['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])(
    'agent-75 keeps the level %s behind it',
    (level) => {
      expect(ask(`GPT.5:${level}`, ['openai/gpt-5'])).toMatchObject({
        ok: true,
        model: 'openai/gpt-5',
        thinking: level,
        full: `openai/gpt-5:${level}`,
      });
    },
  );

  it('agent-75 has no level that is none, and one that is part of the id stays there', () => {
    expect(meant('gpt-5:highest', ['openai/gpt-5'])).toBe('model_unknown');
    expect(meant('m:free', ['x/m:free'])).toEqual(['x/m:free', 'id']);
    expect(meant('m:free:low', ['x/m:free'])).toEqual(['x/m:free:low', 'id']);
    expect(meant('x/m:high', ['x/m:high', 'x/m'])).toEqual(['x/m:high', 'exact']);
  });

  it('agent-76 that nobody has is refused, with the one that was probably meant', () => {
    expect(ask('a/x', ['b/x'])).toMatchObject({
      ok: false,
      error: { code: 'model_unknown', message: 'Pi has no usable model "a/x".', hint: expect.stringContaining('b/x') },
      candidates: ['b/x'],
    });
    expect(ask('claude-4', MANY)).toMatchObject({ ok: false, candidates: ['anthropic/claude-4', 'bedrock/claude-4'] });
  });

  it('is taken as it stands where no models are known, and keeps who named it', () => {
    expect(resolveModel({ request: 'some/thing:high', registry: [], source: 'fallback' })).toEqual({
      ok: true,
      model: 'some/thing',
      thinking: 'high',
      full: 'some/thing:high',
      match: 'unchecked',
      source: 'fallback',
    });
  });
});

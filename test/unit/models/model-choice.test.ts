/** The models a child may use, in the order they are tried, and what stands in the way of them. */
import { describe, expect, it } from 'vitest';
import {
  chooseModels,
  type ModelExclusion,
  type ModelRules,
  type ModelWishes,
} from '../../../src/core/models/index.ts';

const registry = ['a/big', 'a/small', 'b/big', 'b/other'].map((fullId) => ({
  provider: fullId.slice(0, 1),
  id: fullId.slice(2),
  fullId,
}));
const choose = (wishes: ModelWishes, rules: Partial<ModelRules> = {}) =>
  chooseModels(wishes, { agent: 'worker', registry, ...rules });
const names = (...args: Parameters<typeof choose>) =>
  choose(...args).candidates.map(({ model, thinking }) => (thinking === null ? model : `${model}:${thinking}`));
const refusal = (...args: Parameters<typeof choose>) => {
  try {
    return choose(...args);
  } catch (error) {
    return error;
  }
};
const excluded = (model: string): ModelExclusion => ({ model, evidence: '503 overloaded', since: 0, until: 1e12 });

describe('the model of a child', () => {
  it('is the one of the call, else of the agent, else the usual one, else that of the parent, else of Pi', () => {
    const all = { call: 'a/big', agent: 'a/small', usual: 'b/big', parent: 'b/other' };
    expect(names(all)).toEqual(['a/big']);
    expect(names({ ...all, call: undefined })).toEqual(['a/small']);
    expect(names({ ...all, call: ' ', agent: undefined })).toEqual(['b/big']);
    expect(names({ parent: 'b/other:high' })).toEqual(['b/other:high']);
    expect(choose({})).toEqual({
      candidates: [{ model: null, thinking: null, source: 'inherited' }],
      isExplicit: false,
      warnings: [],
    });
  });

  it("agent-77 that is inherited is the parent's own, whatever is usual", () => {
    expect(names({ agent: 'inherit', usual: 'b/big', parent: 'b/other' })).toEqual(['b/other']);
    expect(names({ call: 'inherit', agent: 'a/small' })).toEqual(['a/small']);
    expect(names({ agent: 'inherit', usual: 'b/big' })).toEqual(['b/big']);
  });

  it('agent-76 agent-78 B75 that cannot be found is refused, and none is taken in its place', () => {
    for (const wishes of [
      { call: 'c/big' },
      { agent: 'c/big' },
      { usual: 'c/big' },
      { call: 'c/big', fallbacks: ['a/big'] },
    ])
      expect(refusal(wishes), JSON.stringify(wishes)).toMatchObject({
        code: 'model_unknown',
        hint: expect.stringContaining('a/big'),
      });
    expect(refusal({ agent: 'big' })).toMatchObject({ code: 'model_ambiguous' });
    expect(names({ agent: 'big' }, { preferredProvider: 'b' })).toEqual(['b/big']);
    expect(refusal({}, { registry: [] })).toMatchObject({ code: 'model_none' });
  });

  it('agent-79 has fallbacks: found, each once, those that are not there left out and told', () => {
    const choice = choose({ agent: 'a/big', fallbacks: ['other', 'a/big', 'nobody', 'b/other:low', 'A/Small:low'] });
    expect(choice.candidates).toEqual([
      { model: 'a/big', thinking: null, source: 'configured' },
      { model: 'b/other', thinking: null, source: 'fallback' },
      { model: 'a/small', thinking: 'low', source: 'fallback' },
    ]);
    expect(choice.warnings).toEqual([
      expect.objectContaining({ code: 'model_skipped', message: expect.stringContaining('nobody') }),
    ]);
    // One that is configured and not there leaves its place to the others.
    expect(names({ agent: 'c/gone', fallbacks: ['b/big'] })).toEqual(['b/big']);
    expect(refusal({ agent: 'c/gone', fallbacks: ['c/too'] })).toMatchObject({ code: 'model_none' });
  });

  it('agent-79 has none when it was named for the run', () => {
    expect(choose({ call: 'a/big', fallbacks: ['b/big'] })).toMatchObject({
      candidates: [{ model: 'a/big' }],
      isExplicit: true,
    });
  });

  it('agent-81 that is left out is refused where it is named, and passed over where others can take its place', () => {
    const exclusions = [excluded('a/big'), excluded('b/other')];
    expect(refusal({ call: 'a/big', fallbacks: ['b/big'] }, { exclusions })).toMatchObject({
      code: 'model_excluded',
      message: expect.stringMatching(/2001-09-09.*503 overloaded/),
      hint: expect.stringContaining('--include a/big'),
    });
    expect(refusal({ agent: 'a/big' }, { exclusions })).toMatchObject({ code: 'model_excluded' });
    expect(names({ agent: 'a/big', fallbacks: ['b/other', 'b/big'] }, { exclusions })).toEqual(['b/big']);
    expect(refusal({ agent: 'a/big', fallbacks: ['b/other'] }, { exclusions })).toMatchObject({
      code: 'model_none',
      message: expect.stringMatching(/a\/big.*503.*b\/other.*503/),
    });
    const piDefault = { model: 'a/big', thinking: null };
    expect(choose({}, { exclusions, piDefault }).warnings).toEqual([
      expect.objectContaining({ code: 'model_excluded' }),
    ]);
    expect(names({ fallbacks: ['b/big'] }, { exclusions, piDefault })).toEqual(['b/big']);
  });

  describe('agent-82 with models that may be used', () => {
    const scope = { enforce: true, allow: ['A/*', 'inherit'] };
    it('is refused when it is named, told when it is inherited or a fallback, and refused then too when that is strict', () => {
      expect(names({ call: 'a/big:high' }, { scope })).toEqual(['a/big:high']);
      for (const wishes of [{ call: 'b/big' }, { agent: 'b/big' }, { agent: 'b/big', fallbacks: ['a/big'] }])
        expect(refusal(wishes, { scope })).toMatchObject({
          code: 'model_out_of_scope',
          message: expect.stringContaining('A/*, inherit'),
        });
      const lenient = choose({ agent: 'a/big', fallbacks: ['b/big'] }, { scope });
      expect(lenient.candidates).toHaveLength(2);
      expect(lenient.warnings).toEqual([expect.objectContaining({ code: 'model_out_of_scope' })]);
      const strict = { scope: { ...scope, strict: true } };
      expect(refusal({ agent: 'a/big', fallbacks: ['b/big'] }, strict)).toMatchObject({ code: 'model_out_of_scope' });
      const piDefault = { model: 'b/big', thinking: null };
      expect(choose({}, { scope, piDefault }).warnings).toHaveLength(1);
      expect(refusal({}, { ...strict, piDefault })).toMatchObject({ code: 'model_out_of_scope' });
    });

    it('may always be that of the parent, where that is said', () => {
      expect(names({ agent: 'b/big', parent: 'b/big:low' }, { scope })).toEqual(['b/big']);
      expect(refusal({ agent: 'b/big', parent: 'b/other' }, { scope })).toMatchObject({ code: 'model_out_of_scope' });
    });

    it('has rules of its own, field by field; patterns without a provider mean ids, and nothing else is a pattern', () => {
      const own = { ...scope, agents: { worker: { allow: ['oth*'] }, scout: { enforce: false } } };
      expect(names({ call: 'b/other' }, { scope: own })).toEqual(['b/other']);
      expect(refusal({ call: 'a/big' }, { scope: own })).toMatchObject({ code: 'model_out_of_scope' });
      expect(names({ call: 'b/big' }, { scope: own, agent: 'scout' })).toEqual(['b/big']);
      expect(refusal({ call: 'a/big' }, { scope: { enforce: true, allow: ['a/b.g'] } })).toMatchObject({
        code: 'model_out_of_scope',
      });
    });
  });

  it('agent-83 never thinks harder than it may, wherever the level comes from', () => {
    const rules = { maxThinking: 'medium' } as const;
    const tooHigh: [ModelWishes, Partial<ModelRules>][] = [
      [{ call: 'a/big:high' }, rules],
      [{ agent: 'a/big', thinking: { call: 'high' } }, rules],
      [{ agent: 'a/big', thinking: { agent: 'xhigh' } }, rules],
      [{ agent: 'a/big', thinking: { usual: 'max' } }, rules],
      [{ agent: 'a/big', fallbacks: ['b/big:high'] }, rules],
      [{ parent: 'a/big:high' }, rules],
      [{}, { ...rules, piDefault: { model: 'a/big', thinking: 'high' } }],
    ];
    for (const [wishes, given] of tooHigh)
      expect(refusal(wishes, given), JSON.stringify(wishes)).toMatchObject({
        code: 'thinking_too_high',
        message: expect.stringContaining('medium'),
      });
    expect(names({ call: 'a/big:medium', thinking: { agent: 'max' } }, rules)).toEqual(['a/big:medium']);
  });

  it('thinks as the call says, else as stands behind its name, else as the agent says, which may be: not asked for', () => {
    const thinking = { agent: 'low', usual: 'high' } as const;
    expect(names({ agent: 'a/big:max', thinking: { ...thinking, call: 'off' } })).toEqual(['a/big:off']);
    expect(names({ agent: 'a/big:max', thinking })).toEqual(['a/big:max']);
    expect(names({ agent: 'a/big', thinking })).toEqual(['a/big:low']);
    expect(names({ agent: 'a/big', thinking: { usual: 'high' } })).toEqual(['a/big:high']);
    expect(names({ agent: 'a/big', thinking: { agent: false, usual: 'high' } })).toEqual(['a/big']);
  });
});

/** What a person types for a script, and what is kept of it. */
import { describe, expect, it } from 'vitest';
import { rememberTyped, typedBefore } from '../../../src/extension/workflows/input-memory.ts';
import { readTyped, readTypedWhole, toTyped } from '../../../src/extension/workflows/input-value.ts';
import { Memento } from './vscode-stand-in.ts';

const any = { isOptional: false, isList: false };

describe('what is typed for an input', () => {
  it.each([
    ['the harbour', 'the harbour'],
    ['  the harbour ', 'the harbour'],
    ['12', 12],
    ['007', '007'],
    ['true', true],
    ['null', null],
    ['"12"', '12'],
    ['""', ''],
    ['["a", 1]', ['a', 1]],
    ['{"a": [1]}', { a: [1] }],
    ["it's", "it's"],
  ])('%s is a value', (text, value) => {
    expect(readTyped(text, any)).toEqual({ value });
  });

  it.each(['{"a"', '["a",', '"open', '[draft] title'])('%s is wrong JSON and said to be', (text) => {
    expect(readTyped(text, any)).toMatchObject({ fault: { kind: 'json', reason: expect.any(String) } });
  });

  it('nothing leaves out what may be left out, and is missed otherwise', () => {
    expect(readTyped(' ', { ...any, isOptional: true })).toEqual({ value: undefined });
    expect(readTyped(' ', any)).toEqual({ fault: { kind: 'missing' } });
  });

  it.each(['a.js', '"a.js"', '{"a": 1}', '3'])('%s is no list', (text) => {
    expect(readTyped(text, { ...any, isList: true })).toEqual({ fault: { kind: 'list' } });
  });

  it('a list is one', () => {
    expect(readTyped('["a.js"]', { ...any, isList: true })).toEqual({ value: ['a.js'] });
  });

  it.each(['the harbour', '12', 'true', '[x', '', 12, false, null, ['a'], { a: 1 }])(
    '%j can be typed again',
    (value) => {
      expect(readTyped(toTyped(value), any)).toEqual({ value });
    },
  );
});

describe('what is typed for all arguments', () => {
  it('is JSON, or nothing', () => {
    expect(readTypedWhole('{"a": 1}')).toEqual({ value: { a: 1 } });
    expect(readTypedWhole(' ')).toEqual({ value: undefined });
    expect(readTypedWhole('a: 1')).toMatchObject({ fault: { kind: 'json' } });
  });
});

describe('what was typed before', () => {
  it('is kept for each script, the newest fifty of them', async () => {
    const state = new Memento();
    for (let index = 0; index < 51; index += 1) await rememberTyped(state, `/s${index}.js`, { topic: `t${index}` });
    await rememberTyped(state, '/s1.js', { tone: 'dry' });
    expect(typedBefore(state, '/s1.js')).toEqual({ topic: 't1', tone: 'dry' });
    expect(typedBefore(state, '/s0.js')).toEqual({});
    expect(typedBefore(state, '/s50.js')).toEqual({ topic: 't50' });
  });

  it('is not kept when it is very long', async () => {
    const state = new Memento();
    await rememberTyped(state, '/s.js', { short: 'a', long: 'x'.repeat(10_001) });
    expect(typedBefore(state, '/s.js')).toEqual({ short: 'a' });
  });
});

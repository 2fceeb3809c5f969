/** Words and options of a command line in any order. */
import { describe, expect, it } from 'vitest';
import { takeWord, text } from '../../src/cli/options.ts';

describe('the first word of a command', () => {
  it.each([
    [['disable', 'scout'], 'disable', ['scout']],
    [['--json', 'disable', 'scout'], 'disable', ['--json', 'scout']],
    [['--scope', 'user', 'disable', 'scout'], 'disable', ['--scope', 'user', 'scout']],
    [['--scope=user', 'scout', '--json'], 'scout', ['--scope=user', '--json']],
    [['--json'], undefined, ['--json']],
    [[], undefined, []],
  ])('%j', (args, word, others) => {
    expect(takeWord(args, { scope: text })).toEqual({ word, others });
  });
});

import { describe, expect, it } from 'vitest';
import { findAgent, type Named } from '../../../src/core/agent-names/index.ts';

const agent = (name: string, ...aliases: string[]): Named => ({ name, localName: name.split('.').at(-1), aliases });

describe('looking for an agent', () => {
  it('agent-35 takes a name before the name in a package, and that before an alias', () => {
    expect(findAgent('two', [agent('one', 'two'), agent('two')]).name).toBe('two');
    expect(findAgent('two', [agent('tools.two'), agent('two')]).name).toBe('two');
    expect(findAgent('two', [agent('one', 'two'), agent('tools.two')]).name).toBe('tools.two');
    expect(findAgent('tools.two', [agent('tools.two')]).name).toBe('tools.two');
    expect(findAgent('deux', [agent('one'), agent('two', 'deux')]).name).toBe('two');
  });

  it('agent-35 does not guess between several', () => {
    const error = { code: 'agent_ambiguous', message: '"two" can mean several agents: a.two, b.two.' };
    expect(() => findAgent('two', [agent('a.two'), agent('b.two'), agent('c', 'two')])).toThrow(
      expect.objectContaining(error),
    );
    expect(() => findAgent('x', [agent('a', 'x'), agent('b', 'x')])).toThrow(
      expect.objectContaining({ code: 'agent_ambiguous', message: expect.stringContaining('a, b') }),
    );
  });

  it('names what there is when the name is unknown', () => {
    for (const name of ['Worker', 'work', '']) {
      expect(() => findAgent(name, [agent('worker'), agent('scout', 'spy')])).toThrow(
        expect.objectContaining({
          code: 'agent_unknown',
          message: `There is no agent named "${name}".`,
          hint: 'Agents here: worker, scout.',
        }),
      );
    }
  });

  it('does not list a thousand names', () => {
    const many = Array.from({ length: 1000 }, (_, at) => agent(`a${at}`));
    expect(() => findAgent('x', many)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^Agents here: a0, .*a39, … \(\+960\)\.$/) }),
    );
  });
});

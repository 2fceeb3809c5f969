import { describe, expect, it } from 'vitest';
import { bundledAgents, findAgent, parseAgentFile, THINKING_LEVELS, toContract } from '../../src/core/agents/index.ts';
import { agentContract } from '../../src/protocol/index.ts';

const parse = (text: string) => parseAgentFile(text, 'mine.md', 'user');
const withHeader = (header: string) => `---\nname: a\ndescription: b\n${header}\n---\nBody.\n`;

describe('the agents that come with the product', () => {
  it('are these, with these tools', () => {
    const all = bundledAgents();
    expect(Object.fromEntries(all.map((agent) => [agent.name, agent.tools]))).toEqual({
      worker: ['read', 'grep', 'find', 'ls', 'bash', 'edit', 'write'],
      scout: ['read', 'grep', 'find', 'ls', 'bash', 'write'],
      reviewer: ['read', 'grep', 'find', 'ls'],
      oracle: ['read', 'grep', 'find', 'ls', 'bash'],
      delegate: ['read', 'grep', 'find', 'ls', 'bash', 'edit', 'write'],
    });
    expect(all.map((agent) => agent.name)).toEqual(['worker', 'scout', 'reviewer', 'oracle', 'delegate']);
    for (const agent of all) {
      expect(agent).toMatchObject({
        source: 'builtin',
        inheritProjectContext: true,
        inheritSkills: false,
        model: undefined,
      });
      expect(agent.systemPromptMode).toBe(agent.name === 'delegate' ? 'append' : 'replace');
      expect(agent.systemPrompt.length).toBeGreaterThan(100);
      expect(agent.systemPrompt).not.toContain('---');
      expect(agent.description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('know how hard to think', () => {
    const levels = Object.fromEntries(bundledAgents().map((agent) => [agent.name, agent.thinking]));
    expect(levels).toEqual({ worker: 'high', scout: 'low', reviewer: 'high', oracle: 'high', delegate: undefined });
  });

  it('are found by name and by alias, and never two by one word', () => {
    const all = bundledAgents();
    const words: [string, string][] = [
      ['worker', 'worker'],
      ['developer', 'worker'],
      ['coder', 'worker'],
      ['implementer', 'worker'],
      ['develop', 'worker'],
      ['advisor', 'oracle'],
      ['scout', 'scout'],
    ];
    for (const [word, name] of words) expect(findAgent(word, all).name).toBe(name);
    const every = all.flatMap((agent) => [agent.name, ...agent.aliases]);
    expect(new Set(every).size).toBe(every.length);
  });

  it('keep a contract that has all a run needs', () => {
    for (const agent of bundledAgents()) {
      const contract = toContract(agent);
      expect(agentContract.parse(contract)).toEqual(contract);
      expect(contract).toMatchObject({ name: agent.name, tools: agent.tools, systemPrompt: agent.systemPrompt });
    }
  });
});

describe('looking for an agent', () => {
  const agent = (name: string, ...aliases: string[]) =>
    parse(withHeader(`aliases: [${aliases}]`).replace('name: a', `name: ${name}`));

  it('takes a name before an alias', () => {
    expect(findAgent('two', [agent('one', 'two'), agent('two')]).name).toBe('two');
  });

  it('names what there is when the name is unknown, and does not guess', () => {
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
});

describe('an agent definition', () => {
  it('has a header and a body, with either kind of line end', () => {
    for (const end of ['\n', '\r\n']) {
      const text = [
        '---',
        'name: a',
        'description: >',
        '  Folded',
        '  text.',
        'tools: read, ,bash ',
        '---',
        'Line 1',
        '',
        '  Line 2',
        '',
      ];
      expect(parse(text.join(end))).toEqual({
        name: 'a',
        description: 'Folded text.\n',
        aliases: [],
        source: 'user',
        tools: ['read', 'bash'],
        model: undefined,
        thinking: undefined,
        systemPromptMode: 'replace',
        inheritProjectContext: false,
        inheritSkills: false,
        systemPrompt: `Line 1${end}${end}  Line 2`,
      });
    }
  });

  it('takes lists in both forms, and tells no tools from none named', () => {
    expect(parse(withHeader('tools: [read, "bash"]')).tools).toEqual(['read', 'bash']);
    expect(parse(withHeader('tools:\n  - read\n  - bash')).tools).toEqual(['read', 'bash']);
    for (const none of ['tools:', 'tools: ""', 'tools: []']) expect(parse(withHeader(none)).tools).toEqual([]);
    expect(parse(withHeader('')).tools).toBeUndefined();
    expect(toContract(parse(withHeader('')))).not.toHaveProperty('tools');
  });

  it('reads every field', () => {
    const header =
      'aliases: x\nmodel: fake/scripted\nthinking: xhigh\nsystemPromptMode: append\ninheritProjectContext: true\ninheritSkills: true\nfutureField: 1';
    expect(parse(withHeader(header))).toMatchObject({
      aliases: ['x'],
      model: 'fake/scripted',
      thinking: 'xhigh',
      systemPromptMode: 'append',
      inheritProjectContext: true,
      inheritSkills: true,
    });
    for (const level of THINKING_LEVELS) expect(parse(withHeader(`thinking: ${level}`)).thinking).toBe(level);
  });

  it('may have no body', () => {
    for (const text of ['---\nname: a\ndescription: b\n---', '---\nname: a\ndescription: b\n---\n'])
      expect(parse(text).systemPrompt).toBe('');
  });

  it.each<[string, string, RegExp]>([
    ['no header', 'Just text.', /must begin with a header/],
    ['a header that does not end', '---\nname: a\n', /must begin with a header/],
    ['text before the header', '\n---\nname: a\ndescription: b\n---\n', /must begin with a header/],
    ['no name', '---\ndescription: b\n---\n', /field name: .*string/],
    ['a blank name', '---\nname: "  "\ndescription: b\n---\n', /field name: /],
    ['no description', '---\nname: a\n---\n', /field description: .*string/],
    ['a wrong level', withHeader('thinking: hot'), /field thinking: .*"xhigh"/],
    ['a wrong mode', withHeader('systemPromptMode: both'), /field systemPromptMode: .*"append"/],
    ['a flag that is none', withHeader('inheritSkills: maybe'), /field inheritSkills: .*boolean/],
    ['tools that are no list', withHeader('tools: 5'), /field tools: /],
    ['no YAML', withHeader('x: [1'), /not valid YAML: .*line/],
    ['a header that is no map', '---\njust words\n---\n', /expected object/],
  ])('with %s is refused, naming the file and the field', (_, text, why) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'agent_invalid',
        message: expect.stringMatching(
          new RegExp(`^The agent definition mine\\.md is not valid: .*${why.source}`, 's'),
        ),
        hint: expect.stringMatching(/correct/i),
      }),
    );
  });
});

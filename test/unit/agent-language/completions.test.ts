/** What can be written at a place of a definition. */
import { describe, expect, it } from 'vitest';
import { FIELD_VALUES, type Known, suggestionsAt } from '../../../src/core/agent-language/index.ts';
import { FIELDS } from '../../../src/core/agents/index.ts';
import { AGENT_FIELD_TEXTS } from '../../../src/protocol/index.ts';
import { parsed } from '../agents/definitions.ts';
import { cut, header, offered, taken } from './marked.ts';

const model = (name: string, reasoning = true) => ({ name, title: name, reasoning, contextWindow: null, price: null });

const known: Known = {
  models: [model('anthropic/opus'), model('openai/mini', false)],
  defaultModel: 'openai/mini',
  tools: [{ name: 'read' }, { name: 'grep' }, { name: 'bash' }, { name: 'web', extension: '/x/web.ts' }],
  skills: [{ name: 'testing', path: '/skills/testing' }],
  agents: [],
};
const nothing: Known = { agents: [] };

describe('names of fields', () => {
  it('are those that are not there yet, with a colon where there is none', () => {
    const names = offered(header('tools: read', '‸'), nothing);
    expect(names).toContain('model: ');
    for (const there of ['name: ', 'description: ', 'tools: ']) expect(names).not.toContain(there);
    expect(offered(header('mo‸del: x'), nothing)).toContain('model');
  });

  it('leave out other spellings, and fields that are there by another spelling', () => {
    const names = offered(header('skill: x', '‸'), nothing);
    for (const field of ['skills: ', 'skill: ', 'alias: ', 'permission: ']) expect(names).not.toContain(field);
    expect(names).toContain('aliases: ');
  });

  it('take the place of what is typed', () => {
    expect(taken(header('thi‸'), nothing)).toContain(header('thinking: '));
    expect(taken(header('thi‸ng: high'), nothing)).toContain(header('thinking: high'));
  });

  it('are explained, each of them, and what each may hold is known', () => {
    expect(Object.keys(AGENT_FIELD_TEXTS).sort()).toEqual([...FIELDS].sort());
    expect(Object.keys(FIELD_VALUES).sort()).toEqual([...FIELDS].sort());
  });
});

describe('values', () => {
  it.each([
    ['true and false', header('fast: ‸'), ['true', 'false']],
    ['levels of thinking', header('thinking: ‸'), ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'false']],
    ['modes', header('systemPromptMode: a‸'), ['replace', 'append']],
    ['models, and that of the parent', header('model: ‸'), ['anthropic/opus', 'openai/mini', 'inherit']],
    ['models in a list, without those there', header('fallbackModels: openai/mini:off, ‸'), ['anthropic/opus']],
    ['levels of a model', header('model: openai/mini:‸'), ['openai/mini:off']],
    ['tools that are not there yet', header('tools: read, ‸, bash'), ['grep', 'web']],
    ['tools in lines', header('tools:', '  - read', '  - ‸'), ['grep', 'bash', 'web']],
    ['tools in a line that goes on', header('tools: read,', '  ‸'), ['grep', 'bash', 'web']],
    ['tools of a budget', header('toolBudget: {"hard": 2, "block": ["‸"]}'), ['read', 'grep', 'bash', 'web']],
    ['skills', header('skills: ‸'), ['testing']],
    ['keys of a map', header('memory:', '  ‸'), ['scope: ', 'path: ']],
    ['keys that are not there yet', header('memory: {scope: user, ‸}'), ['path: ']],
    ['values of a key', header('memory:', '  scope: ‸'), ['project', 'user']],
    ['tools that can have a rule', header('permissions:', '  ‸'), ['read: ', 'grep: ', 'web: ']],
    ['rules', header('permissions:', '  web: ‸'), ['allow', 'ask', 'deny']],
    ['levels of acceptance', header('acceptance: ‸'), ['auto', 'attested', 'checked', 'false']],
  ])('%s', (_, marked, expected) => expect(offered(marked, known)).toEqual(expected));

  it.each([
    ['a text', header('description: ‸')],
    ['a number', header('timeoutMs: ‸')],
    ['a path', header('extensions: ‸')],
    ['the name', header('aliases: ‸')],
    ['a field nobody knows', header('other: ‸')],
    ['a key nobody knows', header('memory:', '  other: ‸')],
    ['the prompt', `${header()}tools: ‸`],
  ])('nothing is offered for %s', (_, marked) => expect(offered(marked, known)).toEqual([]));

  it('are none where nobody has asked for models, tools and skills', () => {
    expect(offered(header('model: ‸'), nothing)).toEqual(['inherit']);
    for (const field of ['tools', 'skills', 'fallbackModels'])
      expect(offered(header(`${field}: ‸`), nothing)).toEqual([]);
  });

  it('put the space that is missing', () => {
    expect(taken(header('fast:‸'), known)).toEqual([header('fast: true'), header('fast: false')]);
    expect(taken(header('acceptance:‸'), known)).toContain(header('acceptance: auto'));
  });

  it('take the place of the whole value, and of nothing beside it', () => {
    expect(taken(header('tools: read, g‸x, ls # all'), known)).toContain(header('tools: read, grep, ls # all'));
    expect(taken(header('model: "op‸enai"'), known)).toContain(header('model: "anthropic/opus"'));
  });

  it('say of a model whether it is the default, and of a tool whose it is', () => {
    const { text, offset } = cut(header('model: ‸'));
    expect(suggestionsAt(text, offset, known).filter((one) => one.kind === 'model' && one.isDefault)).toHaveLength(1);
    const tools = cut(header('tools: ‸'));
    expect(suggestionsAt(tools.text, tools.offset, known)).toContainEqual(
      expect.objectContaining({ kind: 'tool', tool: { name: 'web', extension: '/x/web.ts' } }),
    );
  });
});

it('offers nothing that a definition could not say', () => {
  for (const [field, { values }] of Object.entries(FIELD_VALUES)) {
    if (values.kind !== 'option') continue;
    for (const option of values.options) {
      const { diagnostics } = parsed(header(`${field}: ${option}`));
      expect(
        diagnostics.filter(({ code }) => code !== 'field_unsupported'),
        `${field}: ${option}`,
      ).toEqual([]);
    }
  }
});

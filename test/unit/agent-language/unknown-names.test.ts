/** Models, tools and skills that a definition names and nobody has. */
import { expect, it } from 'vitest';
import { type KnownNames, unknownNames } from '../../../src/core/agent-language/index.ts';
import { agentIn } from '../agents/definitions.ts';
import { header } from './marked.ts';

const model = (name: string) => ({ name, title: name, reasoning: true, contextWindow: null, price: null });
const known: KnownNames = {
  models: [model('anthropic/opus'), model('openai/mini'), model('azure/mini')],
  tools: [{ name: 'read' }, { name: 'grep' }, { name: 'bash' }, { name: 'web', extension: '/x/web.ts' }],
  skills: [{ name: 'testing', path: '/skills/testing' }],
};

const found = (lines: string[], names: KnownNames = known) =>
  unknownNames(agentIn(header(...lines)), names, header(...lines)).map(
    ({ line, column, endColumn, text, params = {} }) =>
      `${line}:${column}-${endColumn} ${text.split(':')[1]} ${params['name']}${params['near'] ? ` → ${params['near']}` : ''}`,
  );

it.each([
  ['a model, with the nearest one', ['model: antropic/opus'], ['4:8-21 model-near antropic/opus → anthropic/opus']],
  ['a model that is like no other', ['model: qwertyuiopasdf'], ['4:8-22 model qwertyuiopasdf']],
  ['a model that several providers have', ['model: mini'], ['4:8-12 models mini']],
  ['a level that belongs to nothing', ['model: anthropic/opus:hihg'], ['4:8-27 model anthropic/opus:hihg']],
  ['a fallback, at its own place', ['fallbackModels: opus, opos'], ['4:23-27 model-near opos → anthropic/opus']],
  ['a tool in a list', ['tools: read, gerp, bash'], ['4:14-18 tool-near gerp → grep']],
  ['a tool in lines', ['tools:', '  - read', '  - gerp'], ['6:5-9 tool-near gerp → grep']],
  ['a tool in quotes', ['tools: ["gerp"]'], ['4:10-14 tool-near gerp → grep']],
  [
    'a tool that is a part of another word',
    ['tools: reads, xread, rea'],
    ['4:8-13 tool-near reads → read', '4:15-20 tool-near xread → read', '4:22-25 tool-near rea → read'],
  ],
  ['a tool that is left out', ['excludeTools: wbe'], ['4:15-18 tool-near wbe → web']],
  ['a tool with a rule', ['permission:', '  raed: deny'], ['5:3-7 tool-near raed → read']],
  ['a tool of a budget', ['toolBudget: {"hard": 2, "block": ["raed"]}'], ['4:36-40 tool-near raed → read']],
  ['a skill, by both names of the field', ['skill: testign'], ['4:8-15 skill-near testign → testing']],
  ['a skill that is like no other', ['skills: cooking'], ['4:9-16 skill cooking']],
])('tells of %s', (_, lines, expected) => expect(found(lines)).toEqual(expected));

it.each([
  [
    'what is there',
    ['model: anthropic/opus:high', 'tools: read, web', 'skills: testing', 'fallbackModels: openai/mini'],
  ],
  ['the model of the parent', ['model: inherit']],
  ['tools of coordination', ['tools: read, contact_supervisor']],
  ['all tools of a budget', ['toolBudget: {"hard": 2, "block": "*"}']],
  ['tools of extensions of its own', ['tools: own_tool', 'extensions: ./own.ts']],
  ['tools of servers', ['tools: read, mcp:server/tool']],
  ['what another program works by', ['runner: {type: external-cli, command: x}']],
])('says nothing of %s', (_, lines) => expect(found(lines)).toEqual([]));

it('says nothing of what nobody has asked for, nor of models where there are none at all', () => {
  const lines = ['model: x', 'tools: y', 'skills: z'];
  expect(found(lines, {})).toEqual([]);
  expect(found(lines, { models: [] })).toEqual([]);
});

it('knows no tools of extensions where the agent has none', () => {
  expect(found(['tools: web', 'extensions:'])).toEqual(['4:8-11 tool web']);
});

it('names the nearest in its hint, and where all are listed', () => {
  const [near] = unknownNames(agentIn(header('tools: gerp')), known);
  expect(near).toMatchObject({
    severity: 'warning',
    code: 'reference_unknown',
    hint: 'Did you mean grep?',
    field: 'tools',
  });
  const [far] = unknownNames(agentIn(header('tools: something')), known);
  expect(far?.hint).toBe('These are there: read, grep, bash, web.');
});

it('has the place of the field where the text is not at hand, or a name is written otherwise than it reads', () => {
  const place = (line: string, text?: string) => {
    const [problem] = unknownNames(agentIn(header(line)), known, text);
    return problem && [problem.line, problem.column, problem.endColumn];
  };
  expect(place('tools: read, gerp')).toEqual([4, 1, 18]);
  expect(place('tools: read, gerp', header('tools: read, gerp'))).toEqual([4, 14, 18]);
  expect(place('tools: ["ger\\x70"]', header('tools: ["ger\\x70"]'))).toEqual([4, 1, 19]);
});

it('leaves what settings say to them', () => {
  const agent = agentIn(header('model: x'));
  const setting = { file: '/settings.json', setting: 'a', line: 1, column: 1, endLine: 1, endColumn: 2 };
  expect(unknownNames({ ...agent, fromSettings: { model: setting } }, known)).toEqual([]);
  expect(unknownNames(agent, known)).toHaveLength(1);
});

/** What is known of what stands at a place of a definition, and where it leads. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explanationAt, type Known, targetAt } from '../../../src/core/agent-language/index.ts';
import { AgentDiscovery, type FoundAgent } from '../../../src/core/agents/index.ts';
import { tempDir } from '../../support/temp.ts';
import { agentIn, FILE, write } from '../agents/definitions.ts';
import { cut, header } from './marked.ts';

const opus = { name: 'anthropic/opus', title: 'Opus', reasoning: true, contextWindow: 200_000, price: null };
const found = (text: string, file = FILE): FoundAgent => ({ ...agentIn(text), file, isOfProject: false });

const known: Known = {
  models: [opus],
  defaultModel: 'anthropic/opus',
  tools: [{ name: 'read' }, { name: 'web', extension: '/x/web.ts' }],
  skills: [{ name: 'testing', path: '/skills/testing' }],
  agents: [],
};

const explained = (marked: string, around: Known = known) => {
  const { text, offset } = cut(marked);
  const explanation = explanationAt(text, offset, FILE, around);
  return explanation && { ...explanation, text: text.slice(explanation.span.start, explanation.span.end) };
};
const led = (marked: string, around: Known = known) => {
  const { text, offset } = cut(marked);
  return targetAt(text, offset, { file: FILE, cwd: '/project', home: '/home/me' }, around);
};

describe('an explanation', () => {
  it('says which field stands there', () => {
    expect(explained(header('too‸ls: read'))).toMatchObject({ kind: 'field', field: 'tools', text: 'tools' });
    expect(explained(header('memory:', '  sco‸pe: user'))).toBeUndefined();
    expect(explained(header('tols‸: read'))).toBeUndefined();
  });

  it('finds the model that a launch would take, by any spelling, with its level', () => {
    expect(explained(header('model: anthropic/op‸us:high'))).toMatchObject({
      kind: 'model',
      model: opus,
      level: 'high',
      isDefault: true,
      text: 'anthropic/opus:high',
    });
    expect(explained(header('fallbackModels: x, op‸us'))).toMatchObject({ kind: 'model', model: opus, text: 'opus' });
    expect(explained(header('model: inhe‸rit'))).toBeUndefined();
    expect(explained(header('model: unknow‸n'))).toBeUndefined();
  });

  it('knows tools and skills, also in rules and budgets', () => {
    expect(explained(header('tools: read, we‸b'))).toMatchObject({ kind: 'tool', tool: { extension: '/x/web.ts' } });
    expect(explained(header('permissions:', '  we‸b: ask'))).toMatchObject({ kind: 'tool', text: 'web' });
    expect(explained(header('toolBudget: {"hard": 1, "block": ["re‸ad"]}'))).toMatchObject({ kind: 'tool' });
    expect(explained(header('skills:', '  - test‸ing'))).toMatchObject({ kind: 'skill', text: 'testing' });
    expect(explained(header('tools: nobo‸dy'))).toBeUndefined();
  });

  it('tells where settings have the last word: of a field its own, of the name all of them', async () => {
    await using temp = await tempDir();
    const dir = temp.path;
    const file = join(dir, 'agents', 'a.md');
    const text = header('model: anthropic/opus', 'thinking: low');
    const settings = { subagents: { agentOverrides: { a: { model: 'openai/mini', thinking: false } } } };
    await write(dir, { 'agents/a.md': text, 'settings.json': JSON.stringify(settings, undefined, 2) });
    const { agents } = await new AgentDiscovery().discover({
      cwd: dir,
      agentDir: dir,
      home: dir,
      env: {},
      scope: 'user',
    });
    const around = { agents };
    const at = (word: string) => explanationAt(text, text.indexOf(word) + 1, file, around);
    expect(at('model:')).toMatchObject({
      settings: [
        { field: 'model', value: 'openai/mini', place: { setting: 'subagents.agentOverrides.a.model', line: 5 } },
      ],
    });
    expect(at('thinking:')).toMatchObject({ settings: [{ field: 'thinking', value: false }] });
    expect(at('description:')).toMatchObject({ settings: [] });
    const ofName = at('name:');
    expect(ofName?.kind === 'field' && ofName.settings.map(({ field }) => field).sort()).toEqual(['model', 'thinking']);
    expect(targetAt(text, text.indexOf('model:') + 1, { file, cwd: dir, home: dir }, around)).toMatchObject({
      files: [join(dir, 'settings.json')],
      range: { line: 5 },
    });
  });

  it('tells of another definition that is used instead', () => {
    const stronger = found(header(), '/project/.pi/agents/a.md');
    expect(explained(header().replace('name', 'na‸me'), { agents: [stronger] })).toMatchObject({ hiddenBy: stronger });
    expect(explained(header().replace('name', 'na‸me'), { agents: [found(header())] })).not.toHaveProperty('hiddenBy');
  });
});

describe('a place leads', () => {
  it('from a skill to its file', () => {
    expect(led(header('skills: test‸ing'))?.files).toEqual(['/skills/testing/SKILL.md', '/skills/testing']);
    expect(led(header('skills: unknow‸n'))).toBeUndefined();
  });

  it('from a path to the file, by the definition, the folder of the work, or home', () => {
    expect(led(header('extensions: ./x/we‸b.ts'))?.files[0]).toBe('/agents/x/web.ts');
    expect(led(header('extensions: ~/we‸b.ts'))?.files[0]).toBe('/home/me/web.ts');
    expect(led(header('skillPath: ../s/test‸ing'))?.files).toEqual(['/s/testing/SKILL.md', '/s/testing']);
    expect(led(header('defaultReads: plan‸.md'))?.files).toEqual(['/project/plan.md']);
    expect(led(header('tools: read, ./to‸ol.ts'))?.files).toEqual(['/agents/tool.ts']);
  });

  it('from a tool to its extension, and nowhere from one of Pi', () => {
    expect(led(header('tools: we‸b'))?.files).toEqual(['/x/web.ts']);
    expect(led(header('tools: rea‸d'))).toBeUndefined();
  });

  it('from a name or alias to another agent that is called so, at its name', () => {
    const other = found(header().replace('name: a', 'name: other'), '/agents/other.md');
    expect(led(header('aliases: x, oth‸er'), { agents: [other] })).toMatchObject({
      files: ['/agents/other.md'],
      range: { line: 2, column: 1 },
    });
    expect(led(header('aliases: nobo‸dy'), { agents: [other] })).toBeUndefined();
  });
});

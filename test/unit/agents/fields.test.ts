/** Every field of a definition: what it may be, and what becomes of a wrong value. */
import { describe, expect, it } from 'vitest';
import { unsupportedFields } from '../../../src/core/agents/index.ts';
import { THINKING_LEVELS } from '../../../src/core/models/index.ts';
import { agentIn, parsed, said, withFields } from './definitions.ts';

/** The problem of a field, and that nothing else is said. */
function fault(field: string) {
  const text = withFields(field);
  const found = parsed(text).diagnostics.filter(({ code }) => code !== 'field_unsupported');
  expect(found, field).toHaveLength(1);
  return { isUsable: parsed(text).agent !== undefined, ...found[0] };
}

describe('a field', () => {
  it('is read, each as its kind', () => {
    const agent = agentIn(
      withFields(
        'aliases: x, a, x',
        'tools: read, mcp:web/search, ./own.ts',
        'excludeTools: bash',
        'allowNestedSubagents: false',
        'model: fake/scripted',
        'fallbackModels: [fake/b, fake/c]',
        'fast: true',
        'thinking: xhigh',
        'systemPromptMode: append',
        'inheritProjectContext: true',
        'inheritGlobalContext: true',
        'inheritSkills: true',
        'defaultContext: fork',
        'async: true',
        'timeoutMs: 60000',
        'toolTimeoutMs: 5000',
        'toolBudget: {"soft": 2, "hard": 3, "block": ["bash"]}',
        'maxSubagentDepth: 0',
        'acceptance: checked',
        'acceptanceRole: read-only',
        'completionGuard: false',
        'skill: testing',
        'skillPath: ../skills, /all/skills',
        'extensions: ./one.ts',
        'subagentOnlyExtensions: two',
        'mutationTools: edit',
        'output: out.md',
        'outputMode: file-only',
        'defaultReads: plan.md, context.md',
        'defaultProgress: true',
        'interactive: true',
        'memory: {scope: project, path: notes//deep}',
        'permission:',
        '  edit: ask',
        '  write: deny',
        'advertise: true',
      ),
    );
    expect(agent).toMatchObject({
      aliases: ['x'],
      tools: ['read'],
      mcpDirectTools: ['web/search'],
      toolExtensions: ['/agents/own.ts'],
      excludeTools: ['bash'],
      allowNestedSubagents: false,
      model: 'fake/scripted',
      fallbackModels: ['fake/b', 'fake/c'],
      fast: true,
      thinking: 'xhigh',
      systemPromptMode: 'append',
      inheritProjectContext: true,
      inheritGlobalContext: true,
      inheritSkills: true,
      defaultContext: 'fork',
      async: true,
      timeoutMs: 60_000,
      toolTimeoutMs: 5000,
      toolBudget: { soft: 2, hard: 3, block: ['bash'] },
      maxSubagentDepth: 0,
      acceptance: 'checked',
      acceptanceRole: 'read-only',
      completionGuard: false,
      skills: ['testing'],
      skillPath: ['/skills', '/all/skills'],
      extensions: ['/agents/one.ts'],
      subagentOnlyExtensions: ['two'],
      mutationTools: ['edit'],
      output: 'out.md',
      outputMode: 'file-only',
      defaultReads: ['plan.md', 'context.md'],
      defaultProgress: true,
      interactive: true,
      memory: { scope: 'project', path: 'notes//deep' },
      permissions: { edit: 'ask', write: 'deny' },
      runner: { type: 'pi' },
      advertise: true,
      extraFields: {},
    });
    expect(agent.places['permission']).toEqual({ line: 36, column: 1, endLine: 38, endColumn: 14 });
  });

  it('that is absent is not there, or what it usually is', () => {
    const agent = agentIn(withFields());
    expect(agent).toEqual({
      name: 'a',
      localName: 'a',
      description: 'b',
      aliases: [],
      source: 'user',
      file: '/agents/mine.md',
      systemPrompt: 'Body.',
      systemPromptMode: 'replace',
      inheritProjectContext: false,
      inheritGlobalContext: false,
      inheritSkills: false,
      mcpDirectTools: [],
      toolExtensions: [],
      fast: false,
      completionGuard: true,
      defaultProgress: false,
      interactive: false,
      runner: { type: 'pi' },
      advertise: false,
      extraFields: {},
      places: {
        name: { line: 2, column: 1, endLine: 2, endColumn: 8 },
        description: { line: 3, column: 1, endLine: 3, endColumn: 15 },
      },
    });
  });

  it('thinking is a level, or false', () => {
    for (const level of THINKING_LEVELS) expect(agentIn(withFields(`thinking: ${level}`)).thinking).toBe(level);
    expect(agentIn(withFields('thinking: false')).thinking).toBe(false);
    expect(fault('thinking: hot')).toMatchObject({ isUsable: false, code: 'field_invalid', line: 4, column: 11 });
  });

  it.each(['async', 'allowNestedSubagents', 'fast', 'advertise'])('agent-47 %s is true or false', (name) => {
    expect(agentIn(withFields(`${name}: "true"`))).toHaveProperty(name, true);
    for (const value of ['yes', '1', 'on', '[true]'])
      expect(fault(`${name}: ${value}`)).toMatchObject({ isUsable: false, code: 'field_invalid', field: name });
  });

  it.each(['inheritProjectContext', 'inheritGlobalContext', 'inheritSkills', 'defaultProgress', 'interactive'])(
    'agent-47 %s is off for all but true, and says so',
    (name) => {
      const text = withFields(`${name}: yes`);
      expect(agentIn(text)).toHaveProperty(name, false);
      expect(fault(`${name}: yes`)).toMatchObject({ isUsable: true, code: 'field_ignored', severity: 'warning' });
    },
  );

  it.each([
    ['systemPromptMode: both', 'replace'],
    ['defaultContext: old', undefined],
    ['maxSubagentDepth: -1', undefined],
    ['completionGuard: maybe', true],
  ])('%s is not used, and says so', (field, usual) => {
    const [name = ''] = field.split(':');
    expect(fault(field)).toMatchObject({ isUsable: true, code: 'field_ignored', field: name, line: 4 });
    expect(new Map(Object.entries(agentIn(withFields(field)))).get(name)).toBe(usual);
  });

  it.each(['timeoutMs', 'toolTimeoutMs'])('agent-48 %s is a whole number that a timer can wait for', (name) => {
    for (const value of ['0', '-5', '1.5', '2147483648', 'soon', '"1e3"', '0x10'])
      expect(fault(`${name}: ${value}`), value).toMatchObject({ isUsable: false, code: 'field_invalid' });
    expect(agentIn(withFields(`${name}: 2147483647 # 24 days`))).toHaveProperty(name, 2_147_483_647);
  });

  it('agent-49 toolBudget is JSON or YAML, and checked at once', () => {
    const budget = { hard: 3, block: '*' };
    expect(agentIn(withFields(`toolBudget: '${JSON.stringify(budget)}'`)).toolBudget).toEqual(budget);
    expect(agentIn(withFields('toolBudget:', '  hard: 3', '  block: "*"')).toolBudget).toEqual(budget);
    for (const value of ['{"hard": 0}', '{"soft": 3, "hard": 2}', '{"hard": 3, "more": 1}', '5', 'many'])
      expect(fault(`toolBudget: ${value}`), value).toMatchObject({ isUsable: false, code: 'field_invalid' });
    expect(fault('toolBudget: {"hard": 3').code).toBe('yaml_invalid');
  });

  it('agent-50 permissions name tools that can have one', () => {
    expect(agentIn(withFields('permissions: {edit: allow}')).permissions).toEqual({ edit: 'allow' });
    for (const value of ['{bash: deny}', '{subagent: deny}', '{edit: maybe}', '[edit]'])
      expect(fault(`permission: ${value}`), value).toMatchObject({ isUsable: false, code: 'field_invalid' });
    const both = withFields('permission: {edit: ask}', 'permissions: {edit: ask}');
    expect(said(both)).toEqual(['5:14 error field_conflict']);
  });

  it('agent-51 acceptance, acceptanceRole and outputMode are what they may be', () => {
    for (const value of ['auto', 'attested', 'checked', 'false'])
      expect(agentIn(withFields(`acceptance: ${value}`)).acceptance).toBe(value === 'false' ? false : value);
    const whole = { level: 'verified', verify: [{ id: 'test', command: 'npm test' }], evidence: ['tests-added'] };
    expect(agentIn(withFields(`acceptance: ${JSON.stringify(whole)}`)).acceptance).toEqual(whole);
    const wrong = [
      'acceptance: none',
      'acceptance: verified',
      'acceptance: true',
      'acceptance: 3',
      'acceptance: {level: verified}',
      'acceptance: {level: none}',
      'acceptance: {levle: auto}',
      'acceptance: {evidence: [hearsay]}',
      'acceptanceRole: reader',
      'outputMode: both',
    ];
    for (const field of wrong) expect(fault(field), field).toMatchObject({ isUsable: false, code: 'field_invalid' });
  });

  it('agent-53 paths that begin with a dot begin at the file', () => {
    expect(agentIn(withFields('extensions: ./a.ts, ../b, c, /d')).extensions).toEqual([
      '/agents/a.ts',
      '/b',
      'c',
      '/d',
    ]);
  });

  it('agent-54 a runner that is not Pi takes nothing that only Pi understands', () => {
    const external = 'runner: {type: external-cli, command: other}';
    expect(agentIn(withFields(external)).runner).toEqual({ type: 'external-cli', command: 'other' });
    for (const field of ['tools: read', 'model: x/y', 'skills: a', 'thinking: low', 'toolBudget: {"hard": 1}'])
      expect(said(withFields(external, field))).toEqual([expect.stringMatching(/^5:\d+ error field_invalid$/)]);
    const wrong = [
      'runner: {type: other}',
      'runner: {type: external-cli}',
      'runner: {type: external-cli, command: x, shell: true}',
      'runner: {type: external-cli, adapter: unknown}',
      'runner: {type: external-cli, adapter: codex-exec, args: [x]}',
      'runner: {type: external-job}',
      'runner: pi',
    ];
    for (const field of wrong) expect(fault(field), field).toMatchObject({ isUsable: false, code: 'field_invalid' });
  });

  it('agent-55 a package is brought into form, or refused', () => {
    expect(agentIn(withFields('package: My Tools!'))).toMatchObject({
      name: 'my-tools.a',
      localName: 'a',
      package: 'my-tools',
    });
    expect(agentIn(withFields('package: a.b-c')).name).toBe('a.b-c.a');
    for (const value of ['"-x"', '"..."', '"!!"', 'a..b'])
      expect(fault(`package: ${value}`), value).toMatchObject({ isUsable: false, code: 'field_invalid' });
  });

  it.each(['../x', 'a/b', 'a\\b', '.', '..', 'x'.repeat(129)])('a name %s is refused', (name) => {
    const { agent, diagnostics } = parsed(`---\nname: ${name}\ndescription: b\n---`);
    expect(agent).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: 'field_invalid', line: 2, column: 7 }]);
  });

  it('a name with a control character is refused', () => {
    expect(said('---\nname: "a\\u0007"\ndescription: b\n---')).toContain('2:7 error field_invalid');
  });

  it('memory never leads out of its folder', () => {
    for (const path of ['../x', '/x', 'a/../b', 'c:x', './x'])
      expect(fault(`memory: {scope: user, path: "${path}"}`)).toMatchObject({ isUsable: true, code: 'field_ignored' });
  });
});

describe('what a launch does not apply', () => {
  it.each([
    'tools: mcp:web',
    'tools: ./tool.ts',
    'allowNestedSubagents: true',
    'fast: true',
    'acceptance: auto',
    'runner: {type: external-job, provider: x}',
  ])('is told at its line: %s', (field) => {
    const text = withFields(field);
    const [name = ''] = field.split(':');
    expect(unsupportedFields(agentIn(text))).toEqual([name]);
    expect(said(text)).toEqual([expect.stringMatching(/^4:\d+ warning field_unsupported$/)]);
    expect(parsed(text).diagnostics[0]?.field).toBe(name);
  });

  it('is nothing of what asks for nothing', () => {
    const text = withFields(
      'tools: read, bash',
      'excludeTools: bash',
      'allowNestedSubagents: false',
      'acceptance: false',
      'acceptanceRole: read-only',
      'permission: {edit: allow}',
      'defaultProgress: false',
      'inheritGlobalContext: true',
      'skills:',
      'async: true',
      'defaultContext: fork',
      'model: inherit',
    );
    expect(unsupportedFields(agentIn(text))).toEqual([]);
    expect(said(text)).toEqual([]);
  });
});

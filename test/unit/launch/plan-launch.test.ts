/** The plan of a launch: from call, agent, settings, trust and bounds to what will run, and nothing else. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toContract } from '../../../src/core/agents/index.ts';
import {
  DEFAULT_TIMEOUT_MS,
  type LaunchCall,
  type LaunchInput,
  NOTHING_AROUND,
  planLaunch,
} from '../../../src/core/launch/index.ts';
import { childPlan } from '../../../src/protocol/index.ts';
import { agentIn, withFields } from '../agents/definitions.ts';

const OUTPUTS = join('/', 'run', 'artifacts', 'outputs');
const registry = ['fake/one', 'fake/two'].map((fullId) => ({ provider: 'fake', id: fullId.slice(5), fullId }));

function plan(fields: string[] = [], call: Partial<LaunchCall> = {}, input: Partial<LaunchInput> = {}) {
  const planned = planLaunch({
    call: { task: 'Mend it.', ...call },
    agent: toContract(agentIn(withFields(...fields))),
    trust: 'approve',
    models: { registry },
    cwd: '/work',
    outputs: OUTPUTS,
    progressFile: '/run/artifacts/progress.md',
    ...input,
  });
  // What a record keeps is what was planned.
  expect(childPlan.parse(JSON.parse(JSON.stringify(planned.child)))).toEqual(planned.child);
  return planned;
}
const refusal = (...args: Parameters<typeof plan>) => {
  try {
    return plan(...args);
  } catch (error) {
    return error;
  }
};
const codes = (...args: Parameters<typeof plan>) => plan(...args).warnings.map(({ code }) => code);

describe('the tools of a plan', () => {
  const tools = (fields: string[], input: Partial<LaunchInput> = {}) => plan(fields, {}, input).child.tools;

  it('agent-43 are those of the agent, none, or what Pi offers', () => {
    expect(tools(['tools: read, ls, read'])).toEqual({ list: ['read', 'ls'] });
    expect(tools(['tools:'])).toEqual({ list: [] });
    expect(tools([])).toEqual({});
    expect(tools(['tools: read, ls', 'excludeTools: ls'])).toEqual({ list: ['read'], denied: ['ls'] });
    expect(tools(['excludeTools: bash'])).toEqual({ denied: ['bash'] });
  });

  it('agent-150 are never more than the run allows, and what is left out is told', () => {
    const limits = { ceiling: { allowedTools: ['read', 'grep'] } };
    expect(tools(['tools: read, bash'], { limits })).toEqual({ list: ['read'] });
    expect(tools([], { limits })).toEqual({ only: ['read', 'grep'] });
    expect(tools(['excludeTools: grep'], { limits })).toEqual({ only: ['read'], denied: ['grep'] });
    expect(tools(['tools: bash'], { limits: { ceiling: { allowedTools: [] } } })).toEqual({ list: [] });
    expect(plan(['tools: read, bash'], {}, { limits }).warnings).toEqual([
      expect.objectContaining({ code: 'tools_left_out', message: expect.stringContaining('bash') }),
    ]);
    expect(codes(['tools: read, bash', 'excludeTools: bash'])).toEqual([]);
  });

  it('agent-50 are denied by the run for good, whatever an agent says; its questions an agent may lift or add', () => {
    const limits = { toolRules: { write: 'deny', edit: 'ask', grep: 'allow' } as const };
    const fields = ['tools: read, write, edit, grep', 'permission: {write: allow, edit: allow, read: ask, grep: deny}'];
    expect(tools(fields, { limits })).toEqual({ list: ['read', 'edit'], denied: ['write', 'grep'], asked: ['read'] });
    expect(tools(['tools: edit'], { limits })).toEqual({ list: ['edit'], denied: ['write'], asked: ['edit'] });
    expect(tools(['permission: {write: ask}'], { limits })).toEqual({ denied: ['write'], asked: ['edit'] });
  });

  it('agent-150 do not depend on whom it is launched by, only on the run', () => {
    const limits = { ceiling: { allowedTools: ['read', 'bash'] } };
    const parent = { model: 'fake/two' };
    expect(tools(['tools: bash'], { limits, parent })).toEqual(tools(['tools: bash'], { limits }));
  });
});

describe('an agent that the run does not allow', () => {
  it('agent-150 is refused by name', () => {
    const limits = { ceiling: { allowedAgents: ['scout'] } };
    expect(refusal([], {}, { limits })).toMatchObject({
      code: 'agent_restricted',
      message: 'The agent "a" is none of those that this run may use: scout.',
    });
    expect(plan([], {}, { limits: { ceiling: { allowedAgents: ['a'] } } }).child.agent.name).toBe('a');
  });
});

describe('extensions and skills of a plan', () => {
  const around = { ...NOTHING_AROUND, skills: [{ name: 'knots', path: '/skills/knots' }] };

  it('are those that Pi finds, the agent’s own, or none', () => {
    expect(plan().child.extensions).toEqual({ found: true, paths: [] });
    expect(plan(['extensions:']).child.extensions).toEqual({ found: false, paths: [] });
    expect(plan(['extensions: /a.ts', 'subagentOnlyExtensions: /b.ts, /a.ts']).child.extensions).toEqual({
      found: false,
      paths: ['/a.ts', '/b.ts'],
    });
    expect(plan(['subagentOnlyExtensions: /b.ts']).child.extensions).toEqual({ found: true, paths: ['/b.ts'] });
  });

  it('agent-150 are none where the run denies extensions, and one that is missing is refused', () => {
    const limits = { ceiling: { denyExtensions: true } };
    expect(plan(['extensions: /a.ts'], {}, { limits }).child.extensions).toEqual({ found: false, paths: [] });
    expect(codes(['extensions: /a.ts'], {}, { limits })).toEqual(['extensions_denied']);
    expect(codes([], {}, { limits })).toEqual([]);
    expect(
      refusal(['extensions: /a.ts'], {}, { around: { ...NOTHING_AROUND, missingExtensions: ['/a.ts'] } }),
    ).toMatchObject({
      code: 'launch_invalid',
      message: expect.stringContaining('/a.ts'),
    });
  });

  it('are given with the tool they are read with, where it may be used', () => {
    const fields = ['tools: bash', 'skills: knots'];
    const { child } = plan(fields, {}, { around });
    expect([child.skills, child.tools]).toEqual([
      { found: false, paths: ['/skills/knots'] },
      { list: ['bash', 'read'] },
    ]);
    const limits = { toolRules: { read: 'deny' } as const };
    expect(codes(fields, {}, { around, limits })).toEqual(['skills_missing']);
    expect(plan([...fields, 'inheritSkills: true'], { skill: false }, { around }).child).toMatchObject({
      skills: { found: false, paths: [] },
      tools: { list: ['bash'] },
    });
    expect(codes(fields, {}, { around: { ...NOTHING_AROUND, missingSkills: ['knots'] } })).toEqual(['skills_missing']);
  });
});

describe('the words of a plan', () => {
  it('are the task, then the files that are there, then where it keeps notes', () => {
    const around = { ...NOTHING_AROUND, reads: ['/work/plan.md'] };
    const { prompt } = plan(['tools: write', 'defaultProgress: true'], {}, { around });
    expect(prompt).toMatch(
      /^Mend it\.\n\nRead these files first:\n- \/work\/plan\.md\n\nKeep notes .*progress\.md: create it/,
    );
    const later = plan(['defaultProgress: true'], {}, { around: { ...NOTHING_AROUND, hasProgress: true } });
    expect(later.prompt).toContain('read them before you begin');
    expect(plan().prompt).toBe('Mend it.');
  });

  it('say nothing of notes to who cannot or should not write', () => {
    for (const fields of [
      ['tools: read, bash'],
      ['acceptanceRole: read-only'],
      ['permission: {write: deny, edit: deny}'],
    ])
      expect(plan([...fields, 'defaultProgress: true']).child).not.toHaveProperty('progress');
  });

  it('have what the agent remembers, which it can change only if it can write; no text of it ends the frame', () => {
    const around = { ...NOTHING_AROUND, memory: { file: '/m/MEMORY.md', text: 'blue </memory> red' } };
    const own = ['memory: {scope: user, path: x}'];
    const { systemPrompt, child } = plan(own, {}, { around });
    expect(systemPrompt).toMatch(/^Body\.\n\nYou remember .*\/m\/MEMORY\.md\. Add to it/);
    expect(systemPrompt.match(/<\/memory>/g)).toHaveLength(1);
    expect(child.memory?.isWritable).toBe(true);
    expect(plan([...own, 'tools: read'], {}, { around }).systemPrompt).toContain('You cannot change it.');
  });

  it('tell how a value is given where one is wanted', () => {
    expect(plan([], { outputSchema: { type: 'object' } }).systemPrompt).toMatch(/^Body\.\n\n.*structured_output/);
  });
});

describe('the output of a plan', () => {
  const output = (fields: string[], call: Partial<LaunchCall> = {}) => plan(fields, call).child.output;

  it('is the one of the call, else the agent’s, which never lies in the project', () => {
    const own = ['output: context.md', 'outputMode: file-only'];
    expect(output(own)).toEqual({ path: join(OUTPUTS, 'context.md'), mode: 'file-only' });
    expect(output(own, { output: true })).toEqual({ path: join(OUTPUTS, 'context.md'), mode: 'file-only' });
    expect(output(own, { output: '/work/x.md' })).toEqual({ path: '/work/x.md', mode: 'inline' });
    expect(output(own, { output: false })).toBeUndefined();
    expect(output(['output: /abs/x.md'])).toEqual({ path: '/abs/x.md', mode: 'inline' });
    expect(output(own, { outputMode: 'inline' })?.mode).toBe('inline');
    expect(output([])).toBeUndefined();
    expect(output(['outputMode: file-only'])).toBeUndefined();
  });

  it('is refused when it leads out of its folder, or is a wish that nothing comes of', () => {
    for (const path of ['../x.md', 'a/../../../work/x.md', '.'])
      expect(refusal([`output: ${path}`]), path).toMatchObject({ code: 'output_unusable' });
    expect(refusal([], { outputMode: 'file-only' })).toMatchObject({ code: 'launch_invalid' });
  });
});

describe('the limits of a plan', () => {
  it('agent-48 are those of the call, else of the agent, else of the settings, else half an hour', () => {
    const settings = { timeoutMs: 7000, toolTimeoutMs: 70, toolBudget: { hard: 7 } };
    const own = ['timeoutMs: 5000', 'toolTimeoutMs: 50', 'toolBudget: {hard: 5}'];
    const all = plan(own, { timeoutMs: 3000, toolTimeoutMs: 30, toolBudget: { hard: 3 } }, { settings });
    expect([all.timeoutMs, all.child.toolTimeoutMs, all.child.toolBudget]).toEqual([3000, 30, { hard: 3 }]);
    const agent = plan(own, {}, { settings });
    expect([agent.timeoutMs, agent.child.toolTimeoutMs, agent.child.toolBudget]).toEqual([5000, 50, { hard: 5 }]);
    const usual = plan([], {}, { settings });
    expect([usual.timeoutMs, usual.child.toolTimeoutMs, usual.child.toolBudget]).toEqual([7000, 70, { hard: 7 }]);
    expect(plan().timeoutMs).toBe(DEFAULT_TIMEOUT_MS);
  });

  it('are none where the call says so, and that of its workflow where nobody says anything', () => {
    expect(plan(['timeoutMs: 5000'], { timeoutMs: null }).timeoutMs).toBeNull();
    const within = { usualTimeoutMs: null, settings: { timeoutMs: 7000 } };
    expect(plan([], {}, within).timeoutMs).toBeNull();
    expect(plan(['timeoutMs: 5000'], {}, within).timeoutMs).toBe(5000);
  });

  it('have how long it waits for runs of its own', () => {
    expect(plan().child.wait).toEqual({ enabled: true, defaultTimeoutMs: 30 * 60_000 });
    const wait = { enabled: false, defaultTimeoutMs: 5 };
    expect(plan([], {}, { settings: { wait } }).child.wait).toEqual(wait);
  });
});

describe('the context of a plan', () => {
  const parent = { session: { file: '/s.jsonl' } };
  const context = (fields: string[], call: Partial<LaunchCall> = {}, input: Partial<LaunchInput> = {}) =>
    plan(fields, call, input).context;

  it('is what the call says, else what is usual, else what the agent says', () => {
    expect(context([], {}, { parent })).toEqual({ context: 'fresh' });
    expect(context(['defaultContext: fork'], {}, { parent })).toEqual({ context: 'fork', forkOf: '/s.jsonl' });
    expect(context(['defaultContext: fork'], { context: 'fresh' }, { parent })).toEqual({ context: 'fresh' });
    expect(context(['defaultContext: fork'], {}, { parent, settings: { context: 'fresh' } })).toEqual({
      context: 'fresh',
    });
    expect(context([], {}, { parent, settings: { context: 'fork' } })).toMatchObject({ context: 'fork' });
    expect(plan([], { context: 'fork' }, { parent }).child.forkOf).toBe('/s.jsonl');
  });

  it('is the agent’s own where its profile is asked for', () => {
    const settings = { context: 'fork' as const };
    expect(context(['defaultContext: fresh'], { context: 'profile' }, { parent, settings })).toEqual({
      context: 'fresh',
    });
    expect(refusal([], { context: 'profile' }, { parent })).toMatchObject({ code: 'launch_invalid' });
  });

  it('is fresh where there is nothing to copy, unless the call asked for a copy', () => {
    expect(context(['defaultContext: fork'])).toEqual({ context: 'fresh' });
    expect(context([], {}, { settings: { context: 'fork' } })).toEqual({ context: 'fresh' });
    expect(refusal([], { context: 'fork' })).toMatchObject({
      code: 'launch_invalid',
      hint: expect.stringContaining('fresh'),
    });
  });
});

describe('a plan', () => {
  it('agent-79 has the models that are tried in the place of the first, and what was left out', () => {
    const { child, warnings } = plan(['model: one:low', 'fallbackModels: two:high, gone', 'thinking: max']);
    expect(child).toMatchObject({
      model: 'fake/one',
      thinking: 'low',
      fallbacks: [{ model: 'fake/two', thinking: 'high' }],
      modelIsExplicit: false,
    });
    expect(warnings).toEqual([expect.objectContaining({ code: 'model_skipped' })]);
    const named = plan(['fallbackModels: two'], { model: 'one' }).child;
    expect(named).toMatchObject({ model: 'fake/one', modelIsExplicit: true });
    expect(named).not.toHaveProperty('fallbacks');
  });

  it('names the session by label, key or task, in one line', () => {
    expect(plan().child.sessionName).toBe('a · Mend it.');
    expect(plan([], { key: 'scan' }).child.sessionName).toBe('a · scan');
    const { child } = plan([], { key: 'scan', label: ' two\nlines ' });
    expect([child.sessionName, child.label]).toEqual(['a · two lines', 'two lines']);
  });

  it('has the same digests for the same launch, wherever it runs, and others for another', () => {
    const one = plan(['output: x.md', 'tools: read']).child.digests;
    const again = plan(
      ['output: x.md', 'tools: read'],
      {},
      { outputs: join('/', 'other'), progressFile: '/p', cwd: '/else' },
    );
    expect(again.child.digests).toEqual(one);
    expect(one?.launch).toMatch(/^[0-9a-f]{64}$/);
    const others: [string[], Partial<LaunchCall>, Partial<LaunchInput>?][] = [
      [['output: x.md', 'tools: read'], { task: 'More.' }],
      [['output: x.md', 'tools: read'], { model: 'one' }],
      [['output: y.md', 'tools: read'], {}],
      [['output: x.md', 'tools: read, ls'], {}],
      [['output: x.md', 'tools: read'], { outputSchema: { type: 'object' } }],
      [['output: x.md', 'tools: read'], { extensionBindings: { 'x/1': {} } }],
      [['output: x.md', 'tools: read'], {}, { limits: { ceiling: { denyExtensions: true } } }],
    ];
    const digests = others.map((args) => plan(...args).child.digests?.launch);
    expect(new Set([one?.launch, ...digests]).size).toBe(others.length + 1);
  });

  it('is the same every time: it depends on nothing but what it is made from', () => {
    const fields = ['tools: read', 'skills: knots', 'output: x.md'];
    expect(plan(fields)).toEqual(plan(fields));
  });
});

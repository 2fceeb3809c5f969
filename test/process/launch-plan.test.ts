/** What is shown of a launch beforehand is what a real Pi is started with: its model is told of the same tools, texts and files. */
import { execFile } from 'node:child_process';
import { readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerQuestion, foreseeLaunch, type LaunchRequest, launch, RunStore } from '../../src/client/index.ts';
import { bundledAgents } from '../../src/core/agents/index.ts';
import { accessOf } from '../../src/core/launch/index.ts';
import { piVersions } from '../support/pi-versions.ts';
import { ended, owner } from '../support/started-run.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, testBundles, type World } from '../support/world.ts';
import { definition, write } from '../unit/agents/definitions.ts';

const steps = (...all: object[]) => `SCRIPT:steps ${JSON.stringify(all)}`;
const DONE = steps({ text: 'done' });

/** An extension with a tool, which also tells what it was given. */
const EXTENSION = `export default function (pi) {
  pi.registerTool({ name: 'lamp', label: 'Lamp', description: 'Lights a lamp.', parameters: { type: 'object', properties: {} },
    async execute() { return { content: [{ type: 'text', text: 'lit ' + process.env.PI_SUBAGENT_EXTENSION_BINDINGS }], details: {} }; } });
}
`;

describe.each(piVersions)('Pi %s', (version) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld({ pi: version });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** What was planned, what came of it, and what the model was asked. */
  async function play(request: Partial<LaunchRequest> & { agent: string }) {
    const whole: LaunchRequest = { task: DONE, cwd: world.project, owner, trust: 'approve', ...request };
    const { planned } = await foreseeLaunch(world.toolbox, whole);
    const before = world.model.requests.length;
    const run = await launch(world.toolbox, whole);
    const end = await ended({ ...run, store: new RunStore(run.project) });
    const asked = world.model.requests.slice(before);
    return { ...end, run, planned, asked, words: JSON.stringify(asked[0]?.messages) };
  }
  const tools = (asked: { tools: readonly string[] }[]) => asked[0]?.tools.toSorted();
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1);

  test.each(bundledAgents().map(({ name }) => name))(
    '%s has the tools that its plan says, and its words',
    async (agent) => {
      const { planned, asked, words, snapshot } = await play({ agent });
      expect(snapshot.state).toBe('complete');
      const allowed = accessOf(planned.child).tools ?? [];
      expect(allowed.length).toBeGreaterThan(0);
      expect(tools(asked)).toEqual(allowed.toSorted());
      expect(words).toContain(quoted(planned.systemPrompt));
      expect(words).toContain(quoted(planned.prompt));
    },
  );

  test('agent-43 one without tools has none', async () => {
    await write(world.agent.agentDir, { 'agents/bare.md': definition('bare', 'b', 'tools:') });
    const { asked, planned } = await play({ agent: 'bare' });
    expect(accessOf(planned.child).tools).toEqual([]);
    expect(tools(asked)).toEqual([]);
  });

  test('inheritGlobalContext an agent is told what the project says, and what the person says to all only when it wants that', async () => {
    await write(world.agent.agentDir, {
      'AGENTS.md': 'Always whistle.\n',
      'agents/local.md': definition('local', 'b', 'inheritProjectContext: true'),
      'agents/both.md': definition('both', 'b', 'inheritProjectContext: true', 'inheritGlobalContext: true'),
      'agents/alone.md': definition('alone', 'b', 'inheritGlobalContext: true'),
      'agents/added.md': definition('added', 'b', 'inheritProjectContext: true', 'systemPromptMode: append'),
    });
    await write(world.project, { 'AGENTS.md': 'Never hurry.\n' });
    try {
      const told = async (agent: string) => {
        const { words } = await play({ agent });
        expect(words).toContain(`You are ${agent}.`);
        return [words.includes('Never hurry.'), words.includes('Always whistle.')];
      };
      expect(await told('local')).toEqual([true, false]);
      expect(await told('both')).toEqual([true, true]);
      expect(await told('alone')).toEqual([false, false]);
      expect(await told('added')).toEqual([true, false]);
    } finally {
      await rm(join(world.agent.agentDir, 'AGENTS.md'));
      await rm(join(world.project, 'AGENTS.md'));
    }
  });

  test('what is excluded or denied is not told to the model, whether or not there is a list of tools', async () => {
    await write(world.agent.agentDir, {
      'agents/open.md': definition('open', 'b', 'excludeTools: write', 'permission: {edit: deny}'),
      'agents/listed.md': definition('listed', 'b', 'tools: read, edit, ls', 'permission: {edit: deny}'),
    });
    const open = await play({ agent: 'open' });
    expect(open.planned.child.tools).toEqual({ denied: ['edit', 'write'] });
    expect(tools(open.asked)).toEqual(['bash', 'read']);
    const listed = await play({ agent: 'listed' });
    expect(tools(listed.asked)).toEqual(['ls', 'read']);
  });

  test('the ceiling of a run holds for whoever has no list, too, and is stored', async () => {
    await write(world.agent.agentDir, { 'agents/free.md': definition('free') });
    const ceiling = { allowedTools: ['read', 'ls', 'teleport'] };
    const free = await play({ agent: 'free', ceiling });
    expect(tools(free.asked)).toEqual(['read']);
    const worker = await play({ agent: 'worker', ceiling });
    expect(tools(worker.asked)).toEqual(['ls', 'read']);
    expect(worker.planned.warnings).toContainEqual(expect.objectContaining({ code: 'tools_left_out' }));
  });

  test('files, memory, skills and extensions of an agent reach its child', async () => {
    const { agentDir } = world.agent;
    await write(agentDir, {
      'agents/full.md': definition(
        'full',
        'b',
        'tools: bash, lamp',
        'skills: knots',
        'extensions: ../lamp.ts',
        'defaultReads: plan.md, none.md',
        'memory: {scope: user, path: full}',
        'defaultProgress: true',
      ),
      'lamp.ts': EXTENSION,
      'skills/knots/SKILL.md': '---\nname: knots\ndescription: How to tie knots.\n---\nTie.\n',
      'agent-memory/full/MEMORY.md': 'The lamp is blue.\n',
    });
    await writeFile(join(world.project, 'plan.md'), 'x');
    const { planned, asked, words, snapshot } = await play({
      agent: 'full',
      task: steps({ calls: [{ tool: 'lamp', args: {} }] }, { text: 'done' }),
      extensionBindings: { 'lamp/1': { colour: 'blue' } },
    });
    expect(snapshot.state).toBe('complete');
    expect(tools(asked)).toEqual(['bash', 'lamp', 'read']);
    expect(words).toContain('The lamp is blue.');
    expect(words).toContain('How to tie knots.');
    expect(words).toContain(quoted(join(await realpath(world.project), 'plan.md')));
    expect(words).not.toContain('none.md');
    // It can write with bash alone, which is no way to keep notes.
    expect(planned.child.progress).toBeUndefined();
    expect(JSON.stringify(asked[1]?.messages)).toContain(quoted('lit {"lamp/1":{"colour":"blue"}}'));
  });

  test('what may only be called after a question waits for the answer', async () => {
    await write(world.agent.agentDir, {
      'agents/asking.md': definition('asking', 'b', 'tools: write', 'permission: {write: ask}'),
    });
    const task = steps({ calls: [{ tool: 'write', args: { path: 'made.txt', content: 'x' } }] }, { text: 'done' });
    const run = await launch(world.toolbox, { agent: 'asking', task, cwd: world.project, owner, trust: 'approve' });
    const store = new RunStore(run.project);
    const question = await waitFor('the question', async () => (await store.read(run.runId)).view?.questions[0]);
    expect(question).toMatchObject({ title: 'May it use write?', message: expect.stringContaining('made.txt') });
    await answerQuestion(world.toolbox, run.directory, owner, question.id, { confirmed: false });
    const end = await ended({ ...run, store });
    expect(end.snapshot.state).toBe('complete');
    const last = world.model.requests.at(-1);
    expect(JSON.stringify(last?.messages)).toContain('A person has not allowed this call of write.');
  });
});

describe('the command line', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('shows a plan and starts nothing', async () => {
    await write(world.agent.agentDir, {
      'agents/mine.md': definition('mine', 'b', 'tools: read, ls', 'fallbackModels: scripted-b, gone', 'output: x.md'),
    });
    const args = ['plan', '--agent', 'mine', '--task', 'Mend it.', '--thinking', 'low'];
    const { code, stdout, stderr } = await world.cli(args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^agent: +mine \(user, .*mine\.md\)$/m);
    expect(stdout).toMatch(/^model: +default of Pi:low, then fake\/scripted-b:low$/m);
    expect(stdout).toMatch(/^tools: +read, ls$/m);
    expect(stdout).toMatch(/^note: +The model gone is left out/m);
    expect(stdout).toMatch(/Prompt:\nMend it\.\n$/);
    const { plan } = JSON.parse((await world.cli([...args, '--json'])).stdout);
    expect(plan).toMatchObject({
      effectiveTools: ['read', 'ls'],
      context: 'fresh',
      timeoutMs: 1_800_000,
      output: { path: expect.stringMatching(/artifacts.outputs.x\.md$/), mode: 'inline' },
      systemPrompt: { mode: 'replace', text: 'You are mine.' },
      warnings: [expect.objectContaining({ code: 'model_skipped' })],
    });
    expect(JSON.parse((await world.cli(['status', '--all', '--json'])).stdout).runs).toEqual([]);
  });

  test.each([
    [['--model', 'fake/nobody'], 'model_unknown'],
    [['--context', 'fork'], 'launch_invalid'],
    [['--context', 'odd'], 'launch_invalid'],
    [['--wait'], 'launch_invalid'],
  ])('refuses %j', async (more, wanted) => {
    const { code, stdout } = await world.cli(['plan', '--agent', 'worker', '--task', 'x', '--json', ...more]);
    expect([code, JSON.parse(stdout).error.code]).toEqual([2, wanted]);
  });

  test('agent-83 agent-82 holds the settings of Pi against a launch', async () => {
    const file = join(world.agent.agentDir, 'settings.json');
    const before = await readFile(file, 'utf8');
    const settings = JSON.parse(before);
    const plan = async (...more: string[]) => {
      const { stdout } = await world.cli(['plan', '--agent', 'worker', '--task', 'x', '--json', ...more]);
      return JSON.parse(stdout);
    };
    try {
      await writeFile(file, JSON.stringify({ ...settings, subagents: { maxThinking: 'medium' } }));
      expect((await plan()).error).toMatchObject({ code: 'thinking_too_high' });
      expect((await plan('--thinking', 'low')).plan.thinking).toBe('low');
      const modelScope = { enforce: true, allow: ['fake/scripted-b'] };
      await writeFile(file, JSON.stringify({ ...settings, subagents: { modelScope } }));
      expect((await plan('--model', 'scripted')).error).toMatchObject({ code: 'model_out_of_scope' });
      expect((await plan()).plan.warnings).toContainEqual(expect.objectContaining({ code: 'model_out_of_scope' }));
    } finally {
      await writeFile(file, before);
    }
  });
});

describe('planLaunch of dist/api.js', () => {
  const ask = async (options: string) => {
    const api = pathToFileURL(join(await testBundles(), 'api.js')).href;
    const program = `
      const { planLaunch, discoverAgents } = await import(${JSON.stringify(api)});
      const { agents } = await discoverAgents({ cwd: '/', agentDir: '/nowhere', home: '/nowhere', env: {} });
      const agent = agents.find(({ name }) => name === 'scout');
      const base = { agent, trust: 'no-approve', registry: null, cwd: '/w', outputs: '/o', progressFile: '/p' };
      const answer = () => { try { return planLaunch({ ...base, ...${options} }); } catch (error) { return { thrown: String(error) }; } };
      console.log(JSON.stringify(answer()));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    return JSON.parse(stdout);
  };

  test('plans, refuses as data, and throws only for options that are none', async () => {
    const { ok, plan } = await ask(
      `{ call: { task: 'x', model: 'a/b:low' }, limits: { ceiling: { allowedTools: ['read'] } } }`,
    );
    expect(ok).toBe(true);
    expect(plan).toMatchObject({
      model: 'a/b',
      thinking: 'low',
      tools: ['read'],
      prompt: 'x',
      cwd: '/w',
      context: 'fresh',
    });
    expect(await ask(`{ call: { task: 'x' }, limits: { ceiling: { allowedAgents: [] } } }`)).toMatchObject({
      ok: false,
      code: 'agent_restricted',
      hint: expect.any(String),
    });
    expect((await ask(`{ call: { task: ' ' } }`)).thrown).toMatch(/^TypeError: The options of planLaunch.*call\.task/);
    expect((await ask(`{ call: { task: 'x', modle: 1 } }`)).thrown).toContain('modle');
  });
});

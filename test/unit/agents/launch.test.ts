/** What launches make of definitions: all they say, or a refusal that names what stands in the way. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planLaunch } from '../../../src/client/plan.ts';
import { planWorkflow } from '../../../src/client/plan-workflow.ts';
import { Toolbox } from '../../../src/client/toolbox.ts';
import { OutputClaim } from '../../../src/core/outputs/index.ts';
import type { WorkflowRecord } from '../../../src/protocol/index.ts';
import { planChild, planResumed } from '../../../src/runner/workflow/child-plans.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';
import { definition, write } from './definitions.ts';

const VALIDATE_WORKER = new URL('../../../src/core/workflow/validate-worker.ts', import.meta.url).href;
let folder: TempDir;
let toolbox: Toolbox;
let cwd: string;
let agentDir: string;

beforeEach(async () => {
  folder = await tempDir();
  const dist = join(folder.path, 'dist');
  cwd = join(folder.path, 'work');
  agentDir = join(folder.path, 'agent');
  for (const path of [dist, cwd]) await mkdir(path);
  await writeFile(join(dist, 'runtime.json'), JSON.stringify({ version: '0', hash: 'cafe', files: ['runner.mjs'] }));
  await writeFile(join(dist, 'runner.mjs'), '');
  await writeFile(join(dist, 'validate-worker.mjs'), `import ${JSON.stringify(VALIDATE_WORKER)};\n`);
  toolbox = new Toolbox({
    env: {
      PATH: '',
      HOME: join(folder.path, 'home'),
      PI_CODING_AGENT_DIR: agentDir,
      PI_LANES_PI: join(import.meta.dirname, '..', 'workers', 'quiet-pi.mjs'),
      PI_LANES_NODE: process.execPath,
    },
    distDirectory: dist,
    client: { kind: 'test', version: '0' },
  });
});
afterEach(() => folder.remove());

const owner = { kind: 'cli', id: 'me' } as const;
const plan = (agent: string, trust: 'approve' | 'no-approve' = 'approve') =>
  planLaunch(toolbox, { agent, task: 'Mend the fence.', cwd, owner, trust });

describe('a launch', () => {
  it('is of the agent as it is defined', async () => {
    await write(agentDir, {
      'agents/mine.md': definition(
        'mine',
        'b',
        'tools: read, bash',
        'excludeTools: bash',
        'thinking: low',
        'model: inherit',
      ),
    });
    const { child } = (await plan('mine')).record;
    expect(child).toMatchObject({
      agent: { name: 'mine', source: 'user', tools: ['read'], systemPrompt: 'You are mine.' },
      thinking: 'low',
      modelIsExplicit: false,
    });
  });

  it('B75 of an agent with a model nobody has is refused, naming the near one', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'b', 'model: fake/scriptet') });
    await expect(plan('mine')).rejects.toMatchObject({
      code: 'model_unknown',
      hint: expect.stringContaining('fake/scripted'),
    });
  });

  it('asks for no level where the agent wants none', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'b', 'thinking: false') });
    expect((await plan('mine')).record.child).not.toHaveProperty('thinking');
  });

  it('agent-36 of nobody names what there is, and where it was looked for', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine') });
    await expect(plan('wizard')).rejects.toMatchObject({
      code: 'agent_unknown',
      message: `There is no agent named "wizard" for ${cwd}.`,
      hint: expect.stringMatching(
        /Agents here: mine, worker, .*Looked for in: .*agents \(1\), .*\.pi.agents \(absent\)/,
      ),
    });
  });

  it('agent-52 of a broken definition is refused, and not carried out by a weaker one', async () => {
    const text = definition('worker', 'b', 'async: perhaps');
    await write(agentDir, { 'agents/worker.md': text });
    await expect(plan('worker')).rejects.toMatchObject({
      code: 'agent_invalid',
      message: `The agent "worker" has invalid configuration: ${join(agentDir, 'agents', 'worker.md')}:4:8: async is perhaps.`,
    });
    expect((await plan('scout')).record.child.agent.name).toBe('scout');
  });

  it('agent-84 is refused where an agent wants to be fast, whatever its models, also when settings say so', async () => {
    await write(agentDir, {
      'agents/quick.md': definition('quick', 'b', 'fast: true', 'model: fake/a', 'fallbackModels: fake/b'),
      'agents/made.md': definition('made'),
      'settings.json': JSON.stringify({ subagents: { agentOverrides: { made: { fast: true } } } }),
    });
    for (const name of ['quick', 'made'])
      await expect(plan(name), name).rejects.toMatchObject({
        code: 'agent_unsupported',
        message: expect.stringContaining('fast'),
      });
  });

  it('is refused for what would not be done, naming all of it', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'b', 'fast: true', 'acceptance: checked') });
    await expect(plan('mine')).rejects.toMatchObject({
      code: 'agent_unsupported',
      message: expect.stringContaining('fast, acceptance'),
      hint: expect.stringContaining(join(agentDir, 'agents', 'mine.md')),
    });
  });

  it('without trust is refused for agents of the project, and for those it has replaced', async () => {
    await write(cwd, { '.pi/agents/scout.md': definition('scout', 'Of the project.') });
    await expect(plan('scout', 'no-approve')).rejects.toMatchObject({
      code: 'agent_untrusted',
      message: expect.stringContaining(join(cwd, '.pi', 'agents', 'scout.md')),
      hint: expect.stringContaining('--approve'),
    });
    expect((await plan('worker', 'no-approve')).record.child.agent.source).toBe('builtin');
    expect((await plan('scout')).record.child.agent.source).toBe('project');
  });

  it('agent-63 is refused by name where settings disable the agent, unless nobody trusts who says so', async () => {
    await write(cwd, { '.pi/settings.json': '{"subagents":{"agentOverrides":{"worker":{"disabled":true}}}}' });
    await expect(plan('worker')).rejects.toMatchObject({
      code: 'agent_disabled',
      message: expect.stringContaining(`subagents.agentOverrides.worker.disabled in ${cwd}/.pi/settings.json:1:`),
    });
    // Its alias means the same agent.
    await expect(plan('developer')).rejects.toMatchObject({ code: 'agent_disabled' });
    expect((await plan('worker', 'no-approve')).record.child).toMatchObject({ agent: { name: 'worker' } });
  });

  it('agent-57 is of the agent as settings leave it', async () => {
    await write(agentDir, {
      'agents/mine.md': definition('mine', 'b', 'tools: read, bash'),
      'settings.json': '{"subagents":{"agentOverrides":{"mine":{"tools":["read"],"systemPrompt":"Be brief."}}}}',
    });
    expect((await plan('mine')).record.child).toMatchObject({ agent: { tools: ['read'], systemPrompt: 'Be brief.' } });
    await write(agentDir, {
      'settings.json': '{"subagents":{"agentOverrides":{"mine":{"allowNestedSubagents":true}}}}',
    });
    await expect(plan('mine')).rejects.toMatchObject({
      code: 'agent_unsupported',
      message: expect.stringContaining('allowNestedSubagents'),
    });
  });

  it('agent-61 is refused while settings that decide about agents cannot be read', async () => {
    await write(agentDir, { 'settings.json': '{' });
    await expect(plan('worker')).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`${join(agentDir, 'settings.json')}:1:`),
    });
  });

  it('does not mind settings of a project that nobody trusts', async () => {
    await write(cwd, { '.pi/settings.json': '{' });
    expect((await plan('worker', 'no-approve')).record.child.agent.name).toBe('worker');
    await expect(plan('worker')).rejects.toMatchObject({ code: 'config_invalid' });
  });

  it('agent-37 sees what has changed since the last one', async () => {
    for (const description of ['one', 'two']) {
      await write(agentDir, { 'agents/mine.md': definition('mine', description) });
      expect((await plan('mine')).record.child.agent.description).toBe(description);
    }
  });
});

describe('a workflow with a file of its own', () => {
  const claims = () => toolbox.root.claims;
  const recordOf = async (output: string): Promise<WorkflowRecord> =>
    (await planWorkflow(toolbox, { script: 'return 1', file: null, cwd, owner, trust: 'approve', output })).record;
  const outputs = join('/', 'run', 'outputs');
  const planned = (record: WorkflowRecord, params: object) =>
    planChild(record, 'scan', { agent: 'worker', task: 't', ...params }, outputs).plan.output;

  it('has it in its record, by the folder it works in and with its links looked through', async () => {
    await symlink(cwd, join(folder.path, 'link'));
    expect((await recordOf('new/report.md')).workflow.output).toBe(join(cwd, 'new', 'report.md'));
    expect((await recordOf(join(folder.path, 'link', 'report.md'))).workflow.output).toBe(join(cwd, 'report.md'));
  });

  it('is refused like the file of a single agent, before anything is made', async () => {
    await writeFile(join(cwd, 'file'), '');
    await expect(recordOf('.')).rejects.toMatchObject({ code: 'output_unusable' });
    await expect(recordOf('file/report.md')).rejects.toMatchObject({ code: 'output_unusable' });
    const claim = await OutputClaim.take(claims(), join(cwd, 'report.md'), 'run x');
    await expect(recordOf('report.md')).rejects.toMatchObject({ code: 'output_in_use' });
    await claim.release();
    expect((await recordOf('report.md')).workflow.output).toBe(join(cwd, 'report.md'));
  });

  it('has children write beside it that name no output', async () => {
    const record = await recordOf('report.md');
    expect(planned(record, {})).toEqual({ path: join(cwd, 'report.scan.md'), mode: 'inline' });
    expect(planned(record, { outputMode: 'file-only' })).toEqual({
      path: join(cwd, 'report.scan.md'),
      mode: 'file-only',
    });
    expect(planned(record, { output: 'own.md' })).toEqual({ path: join(outputs, 'own.md'), mode: 'inline' });
    expect(planned(record, { output: false })).toBeUndefined();
    const retained = {
      plan: planChild(record, 'before', { agent: 'worker', task: 't' }, outputs).plan,
      cwd,
      session: 's',
    };
    expect(planResumed(record, 'after', retained, { task: 'more' }, outputs).plan.output?.path).toBe(
      join(cwd, 'report.after.md'),
    );
  });
});

describe('a workflow', () => {
  const recordOf = async (trust: 'approve' | 'no-approve' = 'approve'): Promise<WorkflowRecord> => {
    const request = { script: 'return 1', file: null, cwd, owner, trust };
    return (await planWorkflow(toolbox, request)).record;
  };
  const child = (record: WorkflowRecord, agent: string) =>
    planChild(record, 'key', { agent, task: 't' }, cwd).plan.agent;

  it('has the agents of its folder, by each of their names', async () => {
    await write(agentDir, { 'agents/mine.md': definition('mine', 'b', 'package: tools', 'aliases: my') });
    const record = await recordOf();
    for (const name of ['tools.mine', 'mine', 'my']) expect(child(record, name).name).toBe('tools.mine');
    expect(child(record, 'worker').name).toBe('worker');
    expect(record.workflow).not.toHaveProperty('refusedAgents');
  });

  it('fails where it names one that cannot be launched, with the reason, and nowhere else', async () => {
    await write(agentDir, {
      'agents/broken.md': definition('broken', 'b', 'async: perhaps'),
      'agents/skilled.md': definition('skilled', 'b', 'fast: true', 'aliases: expert'),
    });
    await write(cwd, { '.pi/agents/scout.md': definition('scout') });
    const record = await recordOf('no-approve');
    expect(child(record, 'worker').name).toBe('worker');
    for (const [name, code] of [
      ['broken', 'agent_invalid'],
      ['skilled', 'agent_unsupported'],
      ['expert', 'agent_unsupported'],
      ['scout', 'agent_untrusted'],
      ['wizard', 'agent_unknown'],
    ])
      expect(() => child(record, name ?? ''), name).toThrow(expect.objectContaining({ code }));
  });
});

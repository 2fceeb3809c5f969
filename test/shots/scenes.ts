/** The windows that the states play in: each with a world of its own, opened once for all themes. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureProject, findProject } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { type Session, startSession } from '../e2e/session.ts';
import type { Workbench } from '../e2e/workbench.ts';
import { createFakePi, type FakeTask, fakeTask } from '../support/fake-pi/index.ts';
import { withoutPi } from '../support/npm-registry.ts';
import { git } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import { createWorld, type World } from '../support/world.ts';
import { aRecord, goneIdentity, me, writeRun } from '../unit/builders/run.ts';
import { endedRun } from './ended-run.ts';

/** What a state has to work with. */
export interface Stage {
  workbench: Workbench;
  world: World;
  /** Folder that holds the project's runs. */
  project: string;
}

const DAY = 24 * 60;
/** Wide enough for the pictures of the walkthrough. */
const SIZE = { width: 1440, height: 900 };

interface Scene {
  session?: (world: World) => Partial<Parameters<typeof startSession>[0]>;
  /** Before the window is opened. */
  before?: (stage: Omit<Stage, 'workbench'>, stack: AsyncDisposableStack) => Promise<void>;
  /** After it, until it shows everything. */
  after?: (stage: Stage) => Promise<void>;
}

export const SCENES = {
  bare: {},
  'no-pi': { session: (world) => ({ env: withoutPi(world.env) }) },
  untrusted: { session: () => ({ workspaceTrust: true }) },
  busy: { before: busyBefore, after: busyAfter },
  trouble: { before: troubleBefore, after: troubleAfter },
  workflow: { before: workflowBefore, after: workflowAfter },
  library: { before: libraryBefore, after: libraryAfter },
} satisfies Record<string, Scene>;

export type SceneName = keyof typeof SCENES;

/** Opens a scene's window on the Pi Lanes view. The stack ends everything. */
export async function openScene(name: SceneName, vsix: string, stack: AsyncDisposableStack): Promise<Stage> {
  const scene: Scene = SCENES[name];
  const world = stack.use(await createWorld({ project: 'harbour' }));
  await writeFile(join(world.project, 'README.md'), '# Harbour\n\nPlans which ship gets which berth.\n');
  // Worktrees are made from what is committed.
  await git(world.project, 'commit', '--quiet', '--all', '--message', 'The harbour');
  const found = await findProject(world.agent.agentDir, world.project, world.project);
  await ensureProject(found);
  const project = found.layout.directory;
  await scene.before?.({ world, project }, stack);
  const session: Session = stack.use(
    await startSession({
      target: { folder: world.project },
      vsix,
      env: world.env,
      size: SIZE,
      ...scene.session?.(world),
    }),
  );
  const stage = { workbench: session.workbench, world, project };
  await stage.workbench.openContainer('Pi Lanes');
  await scene.after?.(stage);
  return stage;
}

/** Starts a run as another client would; it is stopped at the end. */
async function startRun(world: World, label: string, task: string, pi?: string): Promise<string> {
  const env = pi === undefined ? world.env : { ...world.env, PI_LANES_PI: pi };
  const started = await world.cli(['run', '--agent', 'worker', '--label', label, '--task', task], { env });
  if (started.code !== 0) throw new Error(started.stderr);
  return started.stdout.trim();
}

async function busyBefore({ world, project }: Omit<Stage, 'workbench'>, stack: AsyncDisposableStack): Promise<void> {
  const runs = [
    { task: 'Repair the north pier', state: 'complete', minutesAgo: 55 },
    { task: 'Paint the south pier', state: 'partial', minutesAgo: 70 },
    { task: 'Look for unused berths', state: 'paused', minutesAgo: 80, agent: 'scout' },
    { task: 'Move the harbour to another town', state: 'stopped', minutesAgo: DAY },
    { task: 'Review the change of the tide table', state: 'complete', minutesAgo: DAY + 20, agent: 'reviewer' },
    { task: 'Ask the lighthouse for its opinion', state: 'failed', minutesAgo: DAY + 40, agent: 'oracle' },
    { task: 'Measure the east pier', state: 'complete', minutesAgo: 4 * DAY },
  ] as const;
  for (const run of runs) await writeRun(project, endedRun(run));
  const apart = ['--agent', 'worker', '--label', 'Try another tide table', '--task', 'SCRIPT:edit file=tides.txt'];
  await world.cli(['run', ...apart, '--worktree', '--wait']);
  const play = ['--agent', 'worker', '--label', 'Write a note for new people', '--task', 'SCRIPT:demo tokenMs=0'];
  await world.cli(['run', ...play, '--wait']);
  const live = [
    await startRun(world, 'Write down how ships are moored', 'SCRIPT:slow tokens=20000 tokenMs=500'),
    await startRun(world, 'Check the cranes', 'SCRIPT:bash-sleep seconds=3000'),
  ];
  for (const runId of live) stack.defer(async () => void (await world.cli(['stop', runId])));
}

async function busyAfter({ workbench }: Stage): Promise<void> {
  await workbench.trees.row(/^Check the cranes: worker is running/).waitFor();
  await workbench.trees.row(/^Write down how ships are moored: worker is running/).waitFor();
  await workbench.trees.expand(workbench.trees.row(/^Yesterday: /));
}

async function troubleBefore({ world, project }: Omit<Stage, 'workbench'>, stack: AsyncDisposableStack): Promise<void> {
  await writeRun(project, endedRun({ task: 'Repair the north pier', state: 'complete', minutesAgo: 55 }));
  const fake = stack.use(await createFakePi({ dir: stack.use(await tempDir()).path }));
  const task = fakeTask({ steps: [{ dialog: 'select', title: 'Which berth?', options: ['north', 'south'] }] });
  const runId = await startRun(world, 'Find a berth for the ferry', task, fake.folder);
  stack.defer(async () => void (await world.cli(['stop', runId])));
}

async function troubleAfter({ workbench, project }: Stage): Promise<void> {
  // Failures count from when the extension has begun.
  await workbench.trees.row(/^Repair the north pier/).waitFor();
  const cutOff = (task: string) => ({
    record: { runId: newRunId(), createdAt: Date.now(), child: { ...aRecord().child, task } },
    events: [{ type: 'run.proceeded' } as const],
    at: Date.now(),
  });
  await writeRun(project, { ...cutOff('Sort the nets'), lease: goneIdentity() });
  await writeRun(project, { ...cutOff('Wind the clock'), lease: await me(), owner: { socket: '/nowhere.sock' } });
  await writeRun(project, endedRun({ task: 'Weigh the anchor', state: 'failed', minutesAgo: 0 }));
  await workbench.command('Pi Lanes: Refresh Runs');
  await workbench.trees.row(/^Wind the clock: the runner of worker does not answer/).waitFor();
  await workbench.trees.row('4 runs need you.').waitFor();
  await workbench.notifications.waitFor(/was cut off/);
  await workbench.notifications.clear();
}

/** Three lanes in different states, a child that asks, and a command that waits for consent. */
async function workflowBefore(
  { world, project }: Omit<Stage, 'workbench'>,
  stack: AsyncDisposableStack,
): Promise<void> {
  await writeRun(project, endedRun({ task: 'Repair the north pier', state: 'complete', minutesAgo: 55 }));
  const fake = stack.use(await createFakePi({ dir: stack.use(await tempDir()).path }));
  const says = (text: string) => ({ steps: [{ say: text }] });
  const hangs = {
    steps: [{ say: 'Reading the tide table.' }, { tools: [{ args: { command: 'sleep 600' }, ms: 600_000 }] }],
  };
  const fails = { steps: [{ error: 'the provider is overloaded' }] };
  const asks = { steps: [{ dialog: 'select' as const, title: 'Which berth?', options: ['north', 'south'] }] };
  const stage = (key: string, agent: string, task: FakeTask) =>
    JSON.stringify({ key, agent, task: fakeTask(task, `The ${key} of a pier`) });
  const lanes = [
    { key: 'north', stages: [stage('plan', 'scout', says('Planned.')), stage('build', 'worker', hangs)] },
    { key: 'east', stages: [stage('plan', 'scout', fails), stage('build', 'worker', says('Built.'))] },
    { key: 'south', stages: [stage('plan', 'scout', asks), stage('build', 'worker', says('Built.'))] },
  ].map(({ key, stages }) => `{ key: '${key}', stages: [${[...stages, stage('review', 'reviewer', says('Good.'))]}] }`);
  const script = `await runs.run('survey', { agent: 'scout', task: ${JSON.stringify(fakeTask(says('Surveyed.')))} });
    const ci = runs.host('ci', { kind: 'command', command: 'npm test -- --all-piers', timeoutMs: 60000 });
    const board = await runs.lanes([${lanes}]);
    return [board, await ci];`;
  const file = join(world.project, 'piers.workflow.js');
  await writeFile(file, script);
  const env = { ...world.env, PI_LANES_PI: fake.folder };
  const started = await world.cli(['run', '--script', file], { env });
  if (started.code !== 0) throw new Error(started.stderr);
  stack.defer(async () => void (await world.cli(['stop', started.stdout.trim()])));
}

async function workflowAfter({ workbench }: Stage): Promise<void> {
  const { trees } = workbench;
  for (const row of [
    /^north\.build: worker is running/,
    /^east\.build is skipped/,
    /^south\.plan: scout is waiting/,
    /^Command ci: waits/,
  ])
    await trees.row(row).waitFor();
  await workbench.notifications.clear();
}

/** Agents in every state, and scripts that are right and wrong. */
async function libraryBefore({ world }: Omit<Stage, 'workbench'>): Promise<void> {
  const { project, agent } = world;
  const write = async (file: string, ...lines: string[]) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${lines.join('\n')}\n`);
  };
  const definition = (name: string, description: string, ...fields: string[]) => [
    '---',
    `name: ${name}`,
    `description: ${description}`,
    ...fields,
    '---',
    `You are the ${name} of the harbour.`,
  ];
  const ours = (name: string) => join(project, '.pi', 'agents', `${name}.md`);
  const own = (name: string) => join(agent.agentDir, 'agents', `${name}.md`);
  await write(
    ours('pilot'),
    ...definition('pilot', 'Brings ships in.', 'model: fake/scripted-b', 'thinking: low', 'aliases: guide'),
  );
  await write(ours('dredger'), ...definition('dredger', 'Keeps the channels deep.', 'thinking: hot'));
  await write(ours('crane'), ...definition('crane', 'Loads and unloads.', 'colour: yellow', 'modle: x/y'));
  await write(own('scout'), ...definition('scout', 'Looks around the way I like it.', 'tools: read, grep'));
  await write(own('pilot'), ...definition('pilot', 'My old pilot.'));
  const settings = join(agent.agentDir, 'settings.json');
  const before: unknown = JSON.parse(await readFile(settings, 'utf8').catch(() => '{}'));
  const agentOverrides = { oracle: { disabled: true }, reviewer: { model: 'fake/scripted', thinking: 'high' } };
  await writeFile(settings, JSON.stringify({ ...Object(before), subagents: { agentOverrides } }, null, 2));
  const script = (name: string) => join(project, '.pi', 'workflows', name);
  await write(
    script('inspect.js'),
    "const r = await runs.run('look', { agent: 'scout', task: 'Look.' });",
    'return r.output;',
  );
  await write(script('moor.js'), "await runs.run('moor', { agent: 'nobody', task: 'Moor it.' });");
  await write(script('sink.js'), "runs.run('sink', { agnt: 'worker' });", 'await fetch(1);');
}

async function libraryAfter({ workbench }: Stage): Promise<void> {
  await workbench.trees.closeView('Runs');
  await workbench.trees.openView('Library');
  await workbench.trees.row(/^Agent pilot, the project/).waitFor();
  await workbench.trees.expand(workbench.trees.row(/^Built-in Agents/));
  await workbench.trees.row(/^Workflow sink, 2 errors/).waitFor();
}

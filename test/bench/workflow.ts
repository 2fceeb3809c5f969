/**
 * What a workflow of trivial children costs, beside as many plain `pi --mode rpc` processes at the same concurrency as a lower bound.
 * Both in the same process by turns, because machines are slower at times. Linux only: reads /proc. Prints one JSON line.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { planWorkflow, RunStore, startRun, waitForEnd } from '../../src/client/index.ts';
import { childEnvironment } from '../../src/core/processes/index.ts';
import type { WorkflowRecord } from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld } from '../support/world.ts';

const SIZES = [1, 8, 32];
const ROUNDS = 3;
const CONCURRENCY = 20;
const MS_PER_TICK = 10;
const SAMPLE_MS = 200;
const TASK = 'SCRIPT:hello';

/** Milliseconds by the clock and of processor time of everything that was started, and most bytes of it at once. */
interface Cost {
  wall: number;
  cpu: number;
  memory: number;
}

if (process.argv[2] === 'sample') {
  await sampleMemory();
  process.exit();
}

await using world = await createWorld({ minify: true });
/** What the build of the bundles has left running, and the sampler. */
const others: Set<number> = new Set(await descendants(process.pid, new Set()));
const sampler = spawn(process.execPath, [fileURLToPath(import.meta.url), 'sample', [...others].join()], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
if (sampler.pid) others.add(sampler.pid);
const samples = createInterface({ input: sampler.stdout })[Symbol.asyncIterator]();

async function workflow(count: number): Promise<Cost> {
  const script = `
    const all = await runs.all(Array.from({ length: ${count} }, (_, index) =>
      ({ key: 'child-' + index, agent: 'worker', task: '${TASK}' })));
    return all.filter(({ ok }) => ok).length;`;
  return measured(async (ended) => {
    const owner = { kind: 'cli' as const, id: 'bench' };
    const plan = await planWorkflow(world.toolbox, {
      script,
      file: null,
      cwd: world.project,
      owner,
      trust: 'no-approve',
      globalConcurrencyLimit: CONCURRENCY,
    });
    await startRun(world.toolbox, plan);
    const { state } = await waitForEnd(new RunStore(plan.project), plan.record.runId);
    ended();
    if (state !== 'complete') throw new Error(`a workflow of ${count} children ended as ${state}`);
  });
}

async function plain(count: number, { pi, agentDir, cwd }: WorkflowRecord): Promise<Cost> {
  const sessions = await mkdtemp(join(world.project, '..', 'sessions-'));
  const env = { ...childEnvironment(process.env), ...pi.command.env, PI_CODING_AGENT_DIR: agentDir };
  const one = async (index: number) => {
    const args = [...pi.command.args, '--mode', 'rpc', '--session-dir', join(sessions, String(index)), '--no-approve'];
    const child = spawn(pi.command.file, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
    const exited = once(child, 'exit');
    child.stdin.write(`${JSON.stringify({ id: '1', type: 'prompt', message: TASK })}\n`);
    for await (const line of createInterface({ input: child.stdout }))
      if (line.includes('"type":"agent_settled"')) child.stdin.end();
    await exited;
  };
  let next = 0;
  const worker = async () => {
    while (next < count) await one(next++);
  };
  return measured(async (ended) => {
    await Promise.all(Array.from({ length: Math.min(count, CONCURRENCY) }, worker));
    ended();
  });
}

/** @param work calls back when what is timed is over; what it costs is counted until its processes are gone */
async function measured(work: (ended: () => void) => Promise<void>): Promise<Cost> {
  const before = await ticks();
  const from = performance.now();
  let wall = 0;
  sampler.stdin.write('begin\n');
  await work(() => {
    wall = performance.now() - from;
  });
  await waitFor('everything to be gone', async () => (await descendants()).length === 0);
  const cpu = ((await ticks()) - before) * MS_PER_TICK;
  sampler.stdin.write('tell\n');
  const { value } = await samples.next();
  return { wall, cpu, memory: Number(value) };
}

/** Of the sampler: tells the most memory since it was told to begin. Its own work is not counted, it is in another process. */
async function sampleMemory(): Promise<void> {
  const parent = process.ppid;
  const without = new Set([process.pid, ...(process.argv[3] ?? '').split(',').map(Number)]);
  let most = 0;
  const timer = setInterval(async () => {
    most = Math.max(most, await bytesOf(await descendants(parent, without)));
  }, SAMPLE_MS);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'begin') most = 0;
    else console.log(most);
  }
  clearInterval(timer);
}

/** Fields of /proc/<pid>/stat behind the name, the first is the state (proc(5)). */
async function statOf(pid: number | string): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') X 0');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Processor time of this process and of all it has started and that is gone, in clock ticks. */
async function ticks(): Promise<number> {
  const fields = await statOf('self');
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
}

async function descendants(of = process.pid, without: ReadonlySet<number> = others): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, Number((await statOf(pid))[1])] as const)));
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === of || (parent > 1 && isOurs(parent));
  };
  return pids.filter((pid) => isOurs(pid) && !without.has(pid));
}

async function bytesOf(pids: number[]): Promise<number> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')));
  return texts.reduce((sum, text) => sum + Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? 0) * 1024, 0);
}

const { record } = await planWorkflow(world.toolbox, {
  script: 'return 1',
  file: null,
  cwd: world.project,
  owner: { kind: 'cli', id: 'bench' },
  trust: 'no-approve',
});
// What is read from the disk the first time is not measured.
await plain(1, record);
await workflow(1);
const rows: { count: number; ours: Cost; bare: Cost }[] = [];
for (const count of SIZES) {
  const found: { ours: Cost; bare: Cost }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await plain(count, record);
    found.push({ bare, ours: await workflow(count) });
  }
  const middle = (who: 'ours' | 'bare'): Cost => {
    const of = (name: keyof Cost) =>
      found.map((one) => one[who][name]).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
    return { wall: of('wall'), cpu: of('cpu'), memory: of('memory') };
  };
  rows.push({ count, ours: middle('ours'), bare: middle('bare') });
}
sampler.stdin.end();
console.log(JSON.stringify(rows));

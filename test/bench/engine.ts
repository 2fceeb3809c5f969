/** Measures the script engine as it is shipped. Prints one line of JSON. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { executeWorkflowIn, replayWorkflowIn } from '../../src/api/workflow-execution.ts';
import type { ExecuteWorkflowOptions } from '../../src/api/workflow-execution-types.ts';
import { EngineThread } from '../../src/core/workflow/engine/engine-thread.ts';
import { HEAP_BYTES } from '../../src/core/workflow/engine/limits.ts';

const outdir = mkdtempSync(join(tmpdir(), 'pi-lanes-bench-engine-'));
const { buildEngineWorker } = await import(pathToFileURL(join(process.cwd(), 'esbuild.mjs')).href);
await buildEngineWorker({ outdir, minify: true });
const worker = join(outdir, 'engine-worker.mjs');

const P = `{agent: 'w', task: 't'}`;
const instant: ExecuteWorkflowOptions['host'] = { launch: async ({ key }) => ({ ok: true, output: key, runId: key }) };

/** Milliseconds by the clock, and of processor time of all threads: what a machine under load does not change. */
interface Cost {
  wall: number;
  cpu: number;
}

function meter(): () => Cost {
  const began = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { wall: performance.now() - began, cpu: (user + system) / 1000 };
  };
}

async function timed(work: () => Promise<unknown>): Promise<Cost> {
  const stop = meter();
  await work();
  return stop();
}

/** The middle one of several. */
async function median(times: number, work: () => Promise<Cost>): Promise<string> {
  const found: Cost[] = [];
  for (let index = 0; index < times; index++) found.push(await work());
  const middle = (name: keyof Cost) =>
    Math.round((found.map((cost) => cost[name]).sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0) * 10) / 10;
  return `${middle('wall')} ms (processor ${middle('cpu')} ms)`;
}

const open = { script: 'return 1', state: false, seed: 1, heapBytes: HEAP_BYTES };
async function ready(): Promise<Cost> {
  const stop = meter();
  await using thread = new EngineThread(worker);
  await thread.open(open);
  return stop();
}

/** Realm and prelude again, in a worker that is warm. */
async function warm(): Promise<Cost> {
  await using thread = new EngineThread(worker);
  await thread.open(open);
  return await timed(() => thread.open(open));
}

/** From the first step of the script to its end: what starts the worker is left out. */
async function running(script: string): Promise<Cost> {
  let stop = meter();
  const host: ExecuteWorkflowOptions['host'] = {
    ...instant,
    status: () => {
      stop = meter();
      return { ok: true };
    },
  };
  const { ok, error } = await executeWorkflowIn(
    {
      script: `await runs.status('now'); ${script}`,
      host,
      maxSubagentSpawnsPerRun: 1000,
      globalConcurrencyLimit: 1000,
    },
    { worker },
  );
  if (!ok) throw new Error(error?.message);
  return stop();
}

const sequential = `for (let i = 0; i < 1000; i++) await runs.run('k' + i, ${P})`;
const parallel = `await runs.all(Array.from({length: 1000}, (_, i) => ({key: 'k' + i, ...${P}})))`;
const emits = `const line = 'x'.repeat(1000); for (let i = 0; i < 10486; i++) emit(line)`;

const { record } = await executeWorkflowIn(
  { script: `for (let i = 0; i < 64; i++) await runs.run('k' + i, ${P})`, host: instant },
  { worker },
);
const rebuild = () => timed(() => replayWorkflowIn(record, { worker }));

const times = 5;
console.log(
  JSON.stringify({
    ready: await median(times, ready),
    warm: await median(times, warm),
    sequential: await median(times, () => running(sequential)),
    parallel: await median(times, () => running(parallel)),
    emits: await median(times, () => running(emits)),
    rebuild: await median(times, rebuild),
  }),
);
rmSync(outdir, { recursive: true, force: true });
process.exit(0);

/** What runners cost while a child waits for the model. Linux only: reads /proc. Prints one JSON line. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { launch, planWorkflow, RunStore, startRun, stopRun } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld } from '../support/world.ts';

const MEASURED_MS = 10_000;
const TICKS_PER_SECOND = 100;

await using world = await createWorld({ minify: true });
const owner = { kind: 'cli' as const, id: 'bench' };
const common = { cwd: world.project, owner, trust: 'no-approve' as const };
const single = await measured(await launch(world.toolbox, { agent: 'worker', task: 'SCRIPT:hang', ...common }));
const script = `return (await runs.run('one', { agent: 'worker', task: 'SCRIPT:hang' })).output`;
const plan = await planWorkflow(world.toolbox, { script, file: null, ...common });
const workflow = await measured(await startRun(world.toolbox, plan));
console.log(JSON.stringify({ single, workflow }));

/** Processor time and memory of the runner while its one child hangs. The run is stopped afterwards. */
async function measured(run: Awaited<ReturnType<typeof startRun>>) {
  const store = new RunStore(run.project);
  await waitFor('the prompt', async () => (await store.read(run.runId)).view?.children[0]?.phase === 'thinking', {
    timeoutMs: 60_000,
  });
  const { lines } = await readJournal(runLayout(run.directory).journal);
  const started = lines.find((line) => line.type === 'runner.started');
  const pid = started?.type === 'runner.started' ? started.process.pid : 0;
  await delay(1000);
  const before = await ticks(pid);
  await delay(MEASURED_MS);
  const after = await ticks(pid);
  const rss = Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
  await stopRun(world.toolbox, run.directory, owner);
  return {
    cpuPercent: Number((((after - before) / TICKS_PER_SECOND / (MEASURED_MS / 1000)) * 100).toFixed(2)),
    rssMb: Number((rss / 1024).toFixed(1)),
  };
}

/** User and system time in clock ticks (proc(5)). */
async function ticks(of: number): Promise<number> {
  const stat = await readFile(`/proc/${of}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

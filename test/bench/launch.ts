/** How long a launch takes, Pi's own start excluded. Prints one JSON line; milliseconds, medians of ten. */
import { planLaunch, RunStore, startRun, waitForEnd } from '../../src/client/index.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import type { JournalLine } from '../../src/protocol/index.ts';
import { createWorld } from '../support/world.ts';

await using world = await createWorld({ minify: true });
const request = {
  agent: 'worker',
  task: 'hello',
  cwd: world.project,
  owner: { kind: 'cli' as const, id: 'bench' },
  trust: 'no-approve' as const,
};
const samples: { plan: number; runnerStart: number; whole: number; overhead: number }[] = [];
// The first two warm the caches of the disk and of the probes.
for (let i = 0; i < 12; i++) {
  const from = performance.now();
  const plan = await planLaunch(world.toolbox, request);
  const planned = performance.now();
  const launched = await startRun(world.toolbox, plan);
  const started = performance.now();
  await waitForEnd(new RunStore(launched.project), launched.runId);
  const { lines } = await readJournal(runLayout(launched.directory).journal);
  const at = (type: JournalLine['type']) => lines.find((line) => line.type === type)?.t ?? Number.NaN;
  samples.push({
    plan: planned - from,
    runnerStart: started - planned,
    whole: started - from,
    overhead: at('child.prompted') - at('run.proceeded') - (at('child.ready') - at('child.spawned')),
  });
}
const median = (key: keyof (typeof samples)[number]) => {
  const sorted = samples.slice(2).map((sample) => sample[key]);
  sorted.sort((a, b) => a - b);
  return Math.round(((sorted[4] ?? 0) + (sorted[5] ?? 0)) / 2);
};
console.log(
  JSON.stringify({
    plan: median('plan'),
    runnerStart: median('runnerStart'),
    whole: median('whole'),
    overhead: median('overhead'),
  }),
);

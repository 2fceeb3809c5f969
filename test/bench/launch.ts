/**
 * How long a launch takes, Pi's own start excluded. That start is measured beside it: the same program with the same
 * arguments, started bare, until it answers its first request. Prints one JSON line; milliseconds, medians of ten.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type LaunchPlan, planLaunch, RunStore, startRun, waitForEnd } from '../../src/client/index.ts';
import { piArguments } from '../../src/core/children/pi-rpc/arguments.ts';
import { readJournal } from '../../src/core/journal/index.ts';
import { childEnvironment } from '../../src/core/processes/index.ts';
import { childLayout, runLayout } from '../../src/core/projects/index.ts';
import type { JournalLine, SingleRecord } from '../../src/protocol/index.ts';
import { createWorld } from '../support/world.ts';

await using world = await createWorld({ minify: true });
const request = {
  agent: 'worker',
  task: 'hello',
  cwd: world.project,
  owner: { kind: 'cli' as const, id: 'bench' },
  trust: 'no-approve' as const,
};

/** Milliseconds from the call that starts the program to its answer. It is ended afterwards. */
async function bareStart({ record }: LaunchPlan<SingleRecord>, runDirectory: string): Promise<number> {
  const { pi, cwd, trust, agentDir, child: plan } = record;
  const layout = childLayout(runDirectory, 1);
  const args = [
    ...pi.command.args,
    ...piArguments(
      { plan, session: { kind: 'new' }, cwd, trust, agentDir, pi, layout },
      join(world.dist, 'pi-child.mjs'),
    ),
  ];
  const from = performance.now();
  const bare = spawn(pi.command.file, args, {
    cwd,
    env: { ...childEnvironment(process.env), ...pi.command.env, PI_CODING_AGENT_DIR: agentDir },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  bare.stdin.write('{"id":"1","type":"get_state"}\n');
  await once(createInterface({ input: bare.stdout }), 'line');
  const took = performance.now() - from;
  bare.stdin.end();
  await once(bare, 'exit');
  return took;
}

const samples: { plan: number; runnerStart: number; whole: number; prompt: number; bare: number }[] = [];
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
    // The intent is on the disk right before the prompt is sent; `child.prompted` already holds Pi's answer to it.
    prompt: at('child.prompt.intended') - at('run.proceeded'),
    bare: await bareStart(plan, launched.directory),
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
    prompt: median('prompt'),
    bare: median('bare'),
    overhead: median('prompt') - median('bare'),
  }),
);

/**
 * How fast the Runs view of a project with 1,000 runs is there, and how soon a change on disk shows in it, in the real
 * editor. Prints one JSON line, in milliseconds; what looking from outside costs is in them.
 */
import { appendFile } from 'node:fs/promises';
import { packageExtension } from '../../scripts/package.mjs';
import { ensureProject, findProject, runLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { startSession } from '../e2e/session.ts';
import { createWorld } from '../support/world.ts';
import { aRecord, ended, me, writeRun } from '../unit/builders/run.ts';

const RUNS = 1000;
const ROUNDS = 5;

const median = (numbers: number[]) => Math.round(numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0);

await using world = await createWorld({ project: 'harbour' });
const project = await findProject(world.agent.agentDir, world.project, world.project);
await ensureProject(project);
const folder = project.layout.directory;
const run = (task: string, at: number) => ({
  runId: newRunId(at),
  createdAt: at,
  child: { ...aRecord().child, task },
  cwd: world.project,
});
for (let n = 0; n < RUNS; n++) {
  const at = Date.now() - (n + 1) * 1000;
  const events = [{ type: 'run.proceeded' } as const, ended('complete')];
  await writeRun(folder, { record: run(`run ${n}`, at), events, at });
}
await using session = await startSession({
  target: { folder: world.project },
  vsix: await packageExtension(),
  env: world.env,
});
const { workbench } = session;
await workbench.statusBarItem(/Pi Lanes/).waitFor();

const paints: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  await workbench.openContainer('Explorer');
  const from = performance.now();
  await workbench.openContainer('Pi Lanes');
  await workbench.trees.row(/^run 0: /).waitFor();
  paints.push(performance.now() - from);
}

const changes: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const { directory } = await writeRun(folder, {
    record: run(`live ${round}`, Date.now()),
    events: [{ type: 'run.proceeded' }],
    at: Date.now(),
    lease: await me(),
  });
  await workbench.command('Pi Lanes: Refresh Runs');
  await workbench.trees.row(new RegExp(`^live ${round}: worker is running`)).waitFor();
  const shown = workbench.trees.row(new RegExp(`^live ${round}: worker has completed`)).waitFor();
  const from = performance.now();
  const { journal } = runLayout(directory);
  await appendFile(journal, `${JSON.stringify({ seq: 2, t: Date.now(), ...ended('complete') })}\n`);
  await shown;
  changes.push(performance.now() - from);
}
console.log(JSON.stringify({ paint: median(paints), first: Math.round(paints[0] ?? 0), change: median(changes) }));

/** Cleaning a store of 1,000 old runs: how long it takes, and how long it keeps the event loop from everything else. */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { projectLayout, rootLayout } from '../../src/core/projects/index.ts';
import { cleanStore } from '../../src/core/retention/index.ts';
import { tempDir } from '../support/temp.ts';
import { DAY, writeOldRun } from '../unit/builders/old-run.ts';

const RUNS = 1000;
await using folder = await tempDir();
const root = rootLayout(folder.path);
const project = projectLayout(join(root.projects, 'bench-0123456789abcdef'));
const now = Date.now();
for (let i = 0; i < RUNS; i++) await writeOldRun(project.directory, { endedAt: now - 40 * DAY - i * 60_000 });

async function measured(work: () => Promise<{ removed: unknown[] }>) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const from = performance.now();
  const { removed } = await work();
  const ms = Math.round(performance.now() - from);
  delay.disable();
  // The histogram counts its own 5 ms between two looks.
  const over = (value: number) => Math.max(0, Math.round(value / 1e5) / 10 - 5);
  return { removed: removed.length, ms, p99: over(delay.percentile(99)), max: over(delay.max) };
}

const look = await measured(() => cleanStore({ root, days: 30, dryRun: true, limit: RUNS }));
const pass = await measured(() => cleanStore({ root, days: 30 }));
const all = await measured(() => cleanStore({ root, days: 30, limit: RUNS }));
console.log(JSON.stringify({ look, pass, all }));

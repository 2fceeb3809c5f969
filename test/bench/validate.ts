/** How long a warm worker reads a script, seen from the thread that asks. Prints one line of JSON. */
import { join } from 'node:path';
import { ScriptValidator } from '../../src/core/workflow/index.ts';

const ROUNDS = 40;
const lines = Array.from(
  { length: 500 },
  (_, at) =>
    `const v${at} = await runs.run('k${at}', { agent: 'scout', task: 'Look at ${at}.' });\nemit(v${at}.output);`,
);
const script = lines.join('\n');

await using validator = new ScriptValidator({ worker: join(process.cwd(), 'dist', 'validate-worker.mjs') });
const started = performance.now();
await validator.analyse('return 1');
const cold = performance.now() - started;
const times: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const from = performance.now();
  await validator.analyse(script);
  times.push(performance.now() - from);
}
const warm = times.slice(ROUNDS / 2).sort((a, b) => a - b);
const round = (ms: number | undefined) => Math.round((ms ?? 0) * 10) / 10;
console.log(JSON.stringify({ cold: round(cold), warm: round(warm[warm.length >> 1]), best: round(warm[0]) }));

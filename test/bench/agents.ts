/** Finding 1,000 agents: for the first time, and again with nothing changed; and the rows of the Library. Prints one line of JSON. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { AgentDiscovery } from '../../src/core/agents/index.ts';
import { agentRows } from '../../src/extension/library/library-layout.ts';
import { tempDir } from '../support/temp.ts';

const FILES = 1000;
const ROUNDS = 20;
await using folder = await tempDir();
const home = join(folder.path, 'home');
const agentDir = join(home, '.pi', 'agent');
const cwd = join(home, 'project');
const places = [join(agentDir, 'agents'), join(cwd, '.pi', 'agents')];
const body = 'Say what you found, and where. '.repeat(60);
for (const [at, place] of places.entries()) {
  for (let i = 0; i < FILES / places.length; i++) {
    const group = join(place, `group-${i % 10}`);
    await mkdir(group, { recursive: true });
    const header = `name: a${at}-${i}\ndescription: Does one thing\ntools: read, grep, find\nthinking: high\naliases: [x${at}-${i}]`;
    await writeFile(join(group, `${i}.md`), `---\n${header}\n---\n\n${body}\n`);
  }
}
// Files that were written just now are read again for a moment.
await new Promise((resolve) => setTimeout(resolve, 200));

const discovery = new AgentDiscovery();
const discover = () => discovery.discover({ cwd, agentDir, home, env: {} });
const timed = async () => {
  const from = performance.now();
  const { agents } = await discover();
  if (agents.length < FILES) throw new Error(`${agents.length} agents`);
  return performance.now() - from;
};
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const cold = await timed();
delay.disable();
const times: number[] = [];
for (let round = 0; round < ROUNDS; round++) times.push(await timed());
times.sort((a, b) => a - b);
const found = await discover();
const rowTimes = Array.from({ length: ROUNDS }, () => {
  const from = performance.now();
  agentRows(found);
  return performance.now() - from;
}).sort((a, b) => a - b);
const round = (ms: number | undefined) => Math.round((ms ?? 0) * 10) / 10;
// The histogram counts its own 5 ms between two looks.
const longest = Math.max(0, delay.max / 1e6 - 5);
console.log(
  JSON.stringify({
    cold: round(cold),
    warm: round(times[ROUNDS >> 1]),
    best: round(times[0]),
    longest: round(longest),
    rows: round(rowTimes[ROUNDS >> 1]),
  }),
);

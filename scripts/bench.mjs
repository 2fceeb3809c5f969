// Prints each measured budget with its value. Usage: npm run bench [-- --only <row> …]
// Rows: activation, tree, typing, validate, launch, workflow, idle, engine, retention, worktrees, overview, agents, transcript, vsix. Nothing here fails a build: machines differ; the numbers are read by people.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { prepareEditor } from '../test/harness/prepare.ts';
import { packageExtension } from './package.mjs';
import { vmScripts } from './vm-script.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: options } = parseArgs({ options: { only: { type: 'string', multiple: true } } });

/** The measurements are TypeScript that imports the product's own modules: bundled here, then run. */
async function measure(name) {
  const outfile = join(root, 'out', 'bench', `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [`test/bench/${name}.ts`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    packages: 'external',
    loader: { '.md': 'text' },
    define: { PI_LANES_VERSION: '"bench"' },
    plugins: [vmScripts],
    logLevel: 'warning',
  });
  const result = spawnSync(process.execPath, [outfile], { cwd: root, encoding: 'utf8', timeout: 500_000 });
  if (result.status !== 0) throw new Error(`${name}: ${result.stderr}${result.error ?? ''}`);
  return JSON.parse(result.stdout.trim().split('\n').at(-1));
}

/** Measures the packaged extension in a real editor and browser, and finds the line that says so. */
async function inBrowser(file, pattern) {
  await prepareEditor();
  const result = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), ['run', '--project', 'measure', file], {
    cwd: root,
    encoding: 'utf8',
    timeout: 400_000,
  });
  const found = pattern.exec(result.stdout);
  if (!found) throw new Error(`no measurement: ${result.stdout.slice(-2000)}${result.stderr.slice(-2000)}`);
  return found.slice(1);
}

/** Runs the suites that measure inside the editor and finds the line of one of them. */
async function inEditor(pattern) {
  spawnSync(process.execPath, ['esbuild.mjs', '--minify'], { cwd: root, stdio: 'inherit' });
  const config = join(root, '.vscode-test.mjs');
  const result = spawnSync(
    join(root, 'node_modules', '.bin', 'vscode-test'),
    ['--config', config, '--label', 'bench'],
    {
      cwd: root,
      encoding: 'utf8',
      timeout: 300_000,
    },
  );
  const found = pattern.exec(result.stdout);
  if (!found) throw new Error(`no measurement: ${result.stdout.slice(-2000)}${result.stderr.slice(-2000)}`);
  return found.slice(1);
}

const ROWS = {
  activation: async () => {
    const [load, activate, finish] = await inEditor(/BENCH activation load=(\d+) activate=(\d+) finish=(\d+)/);
    return [
      ['activate() returns', '< 50 ms', `${activate} ms`],
      ['  loading the bundle / finishing', '', `${load} ms / ${finish} ms`],
    ];
  },
  tree: async () => {
    const [p99, longest] = await inEditor(/BENCH host p99=([\d.]+) longest=([\d.]+)/);
    const [paint, floor, shown, shownFloor, change, slowest] = await inBrowser(
      'tree',
      /BENCH tree paint=(\d+) floor=(\d+) shown=(\d+) shownFloor=(\d+) change=(-?\d+) slowest=(-?\d+)/,
    );
    return [
      [
        'tree with 1,000 runs: its icon clicked in a fresh window → its rows are there',
        '< 200 ms',
        `${paint} ms (median of 3); a view of one row and nothing else: ${floor} ms`,
      ],
      ['  the same when it had been shown before', '', `${shown} ms; a view of one row: ${shownFloor} ms`],
      ['a change in a journal → visible in its row', '< 250 ms', `${change} ms (median of 15; slowest ${slowest} ms)`],
      [
        'extension host while a tree of 1,000 runs loads and a run streams: p99 delay',
        '< 50 ms',
        `${p99} ms (longest ${longest} ms)`,
      ],
    ];
  },
  typing: async () => {
    const [plain, script] = await inEditor(/BENCH typing plain=([\d.]+) script=([\d.]+)/);
    return [
      ['p99 delay of the extension host while typing in a workflow script of 2,000 lines', '< 16 ms', `${script} ms`],
      ['  the same keys in a file that is no script', '', `${plain} ms`],
    ];
  },
  validate: async () => {
    spawnSync(process.execPath, ['esbuild.mjs', '--minify'], { cwd: root, stdio: 'inherit' });
    const { cold, warm, best } = await measure('validate');
    return [
      ['validate a script of 1,000 lines, warm worker', '< 20 ms', `${warm} ms (median of 20; best ${best} ms)`],
      ['  first answer, worker start included', '', `${cold} ms`],
    ];
  },
  launch: async () => {
    const { overhead, prompt, bare, whole, plan, runnerStart } = await measure('launch');
    return [
      [
        'launch overhead in the runner: told to proceed → prompt sent, Pi’s start excluded',
        '< 15 ms',
        `${overhead} ms: ${prompt} ms, of which the same Pi started bare ${bare} ms (medians of 10)`,
      ],
      [
        '  the call itself: planned → runner listening and told to proceed',
        '',
        `${whole} ms: plan ${plan} ms, process start ${runnerStart} ms`,
      ],
    ];
  },
  workflow: async () => {
    const rows = await measure('workflow');
    const compared = (ours, bare, unit, digits) =>
      `${(ours / bare).toFixed(2)} ×: ${ours.toFixed(digits)} ${unit}, plain ${bare.toFixed(digits)} ${unit}`;
    return rows.flatMap(({ count, ours, bare }) => [
      [
        `workflow of ${count} trivial children beside as many plain Pis: until it has ended`,
        count === 1 ? '' : '<= 1.15 ×',
        `${compared(ours.wall / 1000, bare.wall / 1000, 's', 1)} (medians of 3)`,
      ],
      [
        '  processor time of all processes',
        count === 1 ? '' : '<= 1.15 ×',
        compared(ours.cpu / 1000, bare.cpu / 1000, 's', 1),
      ],
      ['  memory of all processes, at most', '', compared(ours.memory / 2 ** 20, bare.memory / 2 ** 20, 'MB', 0)],
    ]);
  },
  idle: async () => {
    const { single, workflow } = await measure('idle-runner');
    return [
      ['idle runner, single child: CPU', '0 %', `${single.cpuPercent} % over 10 s`],
      ['idle runner, single child: RSS', '< 65 MB', `${single.rssMb} MB`],
      ['idle runner, workflow with one child: CPU', '0 %', `${workflow.cpuPercent} % over 10 s`],
      ['idle runner, workflow with one child: RSS', '< 130 MB', `${workflow.rssMb} MB`],
    ];
  },
  retention: async () => {
    const { look, pass, all } = await measure('retention');
    const row = (what, { removed, ms, p99, max }) => [
      [what, '', `${ms} ms, ${removed} runs`],
      ['  event loop, p99 / longest delay', '< 50 ms', `${p99.toFixed(1)} / ${max.toFixed(1)} ms`],
    ];
    return [
      ...row('store of 1,000 old runs: a look at all of them', look),
      ...row('  a pass of an editor, which removes 100', pass),
      ...row('  cleanup on the command line, which removes the rest', all),
    ];
  },
  worktrees: async () => {
    const { bare, allocate, capture } = await measure('worktrees');
    return [
      ['worktree allocated, repository of 20,000 files / git alone', '', `${allocate} ms / ${bare} ms`],
      ['  1,000 changed files in it captured, patch proven', '', `${capture} ms`],
    ];
  },
  overview: async () => {
    const { median, best } = await measure('overview');
    return [
      ['200 worktrees seen: standing, changes, owner, eligibility', '', `${median} ms (median of 5; best ${best} ms)`],
    ];
  },
  agents: async () => {
    const { cold, warm, best, longest, rows } = await measure('agents');
    return [
      ['1,000 definitions of agents found again, warm', '< 100 ms', `${warm} ms (median of 20; best ${best} ms)`],
      ['rows of the Library made of them', '< 16 ms', `${rows} ms (median of 20)`],
      ['  the first time; longest delay of the event loop meanwhile', '', `${cold} ms; ${longest} ms`],
    ];
  },
  transcript: async () => {
    const { cold, warm, find, before, peak, after, host } = await measure('transcript');
    return [
      [
        '1 GB session opened: asked → its last items are there',
        '< 150 ms',
        `${warm} ms; ${cold} ms the first time, with the start of the reader (medians of 5)`,
      ],
      ['  searched from begin to end', '', `${find} ms`],
      [
        '200 MB streamed into an open transcript: heap of the reader before → after',
        '',
        `${before} → ${after} MB, at most ${peak} MB; host ${host >= 0 ? '+' : ''}${host} MB`,
      ],
    ];
  },
  engine: async () => {
    const { ready, warm, sequential, parallel, emits, rebuild } = await measure('engine');
    return [
      ['script engine ready, worker included', '< 120 ms', ready],
      ['  realm and prelude in a warm worker, the check of the script included', '< 25 ms', warm],
      ['1,000 instant calls one after the other', '< 60 ms', sequential],
      ['1,000 instant calls in parallel', '< 120 ms', parallel],
      ['10 MB of emits', '', emits],
      ['rebuild of 64 finished children, worker included', '< 100 ms', rebuild],
    ];
  },
  vsix: async () => {
    const path = await packageExtension();
    return [['VSIX', '< 3 MB', `${(statSync(path).size / 1024 / 1024).toFixed(2)} MB`]];
  },
};

const wanted = options.only ?? Object.keys(ROWS);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
console.log(`Pi Lanes ${version}, Node ${process.versions.node}, ${process.platform} ${process.arch}\n`);
for (const name of wanted) {
  if (!(name in ROWS)) {
    console.error(`There is no row ${name}. Rows: ${Object.keys(ROWS).join(', ')}.`);
    process.exit(2);
  }
  for (const [what, budget, value] of await ROWS[name]())
    console.log(`${what.padEnd(84)} ${budget.padEnd(9)} ${value}`);
}

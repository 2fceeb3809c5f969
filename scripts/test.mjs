// Runs every check of the project and prints one closing line, `N passed, N failed`.
// Usage: npm test [-- --only <step> …] [-- --soak]
// Steps: typecheck, lint, unit, panel, git, process, host, e2e.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildAll } from '../esbuild.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reports = join(root, 'artifacts', 'reports');
const bin = (name) => join(root, 'node_modules', '.bin', name);

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    soak: { type: 'boolean', default: false },
  },
});

/** Runs a program with its output shown; resolves with the exit code and what it printed. */
function run(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => {
        output += text;
        process.stdout.write(text);
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: `${command}: ${error.message}` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** A program that only passes or fails counts as one check. */
async function check(command, args) {
  const { code } = await run(command, args);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
}

async function vitest(project) {
  const report = join(reports, `${project}.json`);
  const args = [
    'run',
    '--project',
    project,
    '--reporter=default',
    `--reporter=${join(root, 'scripts', 'verdict-reporter.mjs')}`,
  ];
  const { code } = await run(bin('vitest'), args, { ...soakEnvironment(), VITEST_VERDICT: report });
  return brokenOff(code, readReport(report));
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { passed: 0, failed: 0, failures: [], secondTries: [] };
  }
}

/** A run that ended badly counts as failed even without a failed test. */
function brokenOff(code, verdict) {
  if (code === 0 || verdict.failed > 0) return verdict;
  return { ...verdict, failed: 1, failures: [{ name: 'the run itself', message: `it ended with exit code ${code}` }] };
}

/** The editor and other versions of Pi are installed before the tests, so that no test waits for a download. */
async function prepare() {
  const { prepareEditor } = await import('../test/harness/prepare.ts');
  await prepareEditor();
}

async function preparePi() {
  const { piCli, piVersions } = await import('../test/support/pi-versions.ts');
  for (const version of piVersions) await piCli(version);
}

async function host() {
  await prepare();
  await buildAll();
  const { code, output } = await run(bin('vscode-test'), []);
  const last = [...output.matchAll(/^verdict: (\{.*\})$/gm)].at(-1);
  return brokenOff(code, last ? JSON.parse(last[1]) : { passed: 0, failed: 0, failures: [], secondTries: [] });
}

function soakEnvironment() {
  return options.soak ? { PI_LANES_SOAK: '1' } : {};
}

function add(rows, key) {
  return rows.reduce((total, row) => total + row[key], 0);
}

/** Code that runs in Node, in pages, and tests that know both. */
const TYPE_PROJECTS = ['tsconfig.json', 'webview/tsconfig.json', 'test/panel/tsconfig.json'];

const STEPS = {
  typecheck: async () => {
    const parts = [];
    for (const project of TYPE_PROJECTS) parts.push(await check(bin('tsc'), ['-p', project]));
    return { passed: add(parts, 'passed'), failed: add(parts, 'failed') };
  },
  lint: () => check(bin('biome'), ['check', '--error-on-warnings', '.']),
  unit: () => vitest('unit'),
  panel: async () => {
    await prepare();
    return await vitest('panel');
  },
  git: () => vitest('git'),
  process: async () => {
    await preparePi();
    return await vitest('process');
  },
  host,
  e2e: async () => {
    await prepare();
    return await vitest('e2e');
  },
};

const unknown = (options.only ?? []).filter((name) => !(name in STEPS));
if (unknown.length > 0) {
  console.error(`There is no step ${unknown.join(', ')}. Steps: ${Object.keys(STEPS).join(', ')}.`);
  process.exit(2);
}
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const rows = [];
for (const [name, step] of Object.entries(STEPS)) {
  if (options.only && !options.only.includes(name)) continue;
  console.log(`\n── ${name}`);
  const from = performance.now();
  rows.push({ name, ...(await step()), seconds: Math.round((performance.now() - from) / 1000) });
}
console.log('');
for (const { name, passed, failed, seconds } of rows) {
  console.log(
    `${failed > 0 ? 'FAILED' : 'ok    '} ${name.padEnd(10)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed ${String(seconds).padStart(5)} s`,
  );
}
for (const { name, failures = [], secondTries = [] } of rows) {
  for (const test of secondTries) console.log(`second try: ${name}: ${test}`);
  for (const failure of failures) console.log(`failed: ${name}: ${failure.name}: ${failure.message}`);
}
const sum = (key) => add(rows, key);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exit(sum('failed') > 0 ? 1 : 0);

// Runs on any Node >= 20 and needs nothing installed. Installs the development dependencies when they are missing or
// out of date, then runs the named script with the project's own Node 24 (the `node` development dependency).
// Usage: node scripts/bootstrap.mjs <script.mjs> [args...]
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.pi-lanes-installed');
const windows = process.platform === 'win32';

function fail(text) {
  console.error(`\npi-lanes: ${text}`);
  process.exit(1);
}

const [major] = process.versions.node.split('.').map(Number);
if (major < 20) fail(`Node ${process.versions.node} is too old to begin. Install Node 20 or newer and run this again.`);

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: windows });
  if (result.error) {
    fail(
      `${command} could not be started (${result.error.message}). Install npm (it comes with Node) and put it on PATH.`,
    );
  }
  return result.status ?? 1;
}

const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
if (installed !== wanted) {
  console.error('pi-lanes: installing development dependencies (npm ci)…');
  // Install scripts stay off; the one package that needs its script (the Node binary) is rebuilt by name below.
  if (run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']) !== 0) {
    fail('npm ci failed. Is the npm registry reachable? (npm ping) The output above says what npm could not do.');
  }
  if (run('npm', ['rebuild', 'node', '--foreground-scripts', '--loglevel=error']) !== 0) {
    fail('the development copy of Node 24 (npm package "node") could not be installed. See the output above.');
  }
  writeFileSync(stamp, wanted);
}

const node = join(root, 'node_modules', 'node', 'bin', windows ? 'node.exe' : 'node');
if (!existsSync(node)) fail(`${node} is missing. Delete node_modules and run this again.`);
const [script, ...args] = process.argv.slice(2);
if (!script) fail('bootstrap.mjs needs the script to run');
const result = spawnSync(node, [join(root, script), ...args], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
  },
});
if (result.error) fail(`${script} could not be started: ${result.error.message}`);
process.exit(result.status ?? 1);

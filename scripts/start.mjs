// npm start              the demo folder in a real editor, the extension active, a scripted model behind it
// npm start -- --headless   one demo agent through the command line; needs no editor
// npm start -- --port 8443  the browser editor on this port
// npm start -- --browser    the browser editor even where desktop VS Code is installed
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildAll } from '../esbuild.mjs';
import { createDemoWorld } from './demo-world.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
function fail(text) {
  console.error(`pi-lanes: ${text}`);
  process.exit(1);
}

const options = readOptions();
if (spawnSync('git', ['--version']).error) fail('git is missing. Install git and put it on PATH.');
let code = 1;
let world;
try {
  world = await createDemoWorld(options.headless ? 'demo-headless' : 'demo');
  code = options.headless ? await headless() : await editor();
} catch (error) {
  console.error(`pi-lanes: ${error instanceof Error ? error.message : error}`);
} finally {
  await world?.close();
}
process.exit(code);

function readOptions() {
  // `npm start --headless` without the `--` gives the option to npm.
  if (process.env.npm_config_headless) fail('write `npm start -- --headless`, with the two dashes before it.');
  try {
    const { values } = parseArgs({
      options: {
        headless: { type: 'boolean', default: false },
        browser: { type: 'boolean', default: false },
        port: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      console.log('npm start [-- --headless | --browser | --port NUMBER]');
      process.exit(0);
    }
    if (values.port !== undefined && !(Number(values.port) >= 1024 && Number(values.port) <= 65535)) {
      fail(`--port is "${values.port}"; it must be a number from 1024 to 65535.`);
    }
    return values;
  } catch (error) {
    return fail(`${error.message.split('.')[0]}. Options: --headless, --browser, --port NUMBER.`);
  }
}

async function headless() {
  await buildAll({ extension: false });
  const cli = join(root, 'dist', 'cli.mjs');
  const task = 'Write NOTES.md, a short note for new people, and check it.';
  console.log(`Starting one agent in ${world.project}:\n  ${task}\n`);
  const result = await cliRun([cli, 'run', '--agent', 'worker', '--task', task, '--wait', '--json']);
  const answer = JSON.parse(result.stdout);
  if (answer.error) {
    console.error(`The run failed: ${answer.error.message}\n${answer.error.hint ?? ''}`);
    return 1;
  }
  console.log(`The agent is done (${answer.state}). It says:\n\n${answer.text}\n`);
  console.log(`What it wrote:   ${join(world.project, 'NOTES.md')}`);
  console.log(`Its transcript:  ${join(answer.directory, 'children', '1', 'transcript.jsonl')}`);
  console.log(
    `As text:         PI_CODING_AGENT_DIR='${world.agentDir}' '${process.execPath}' '${cli}' transcript ${answer.runId}`,
  );
  return result.code;
}

function cliRun(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: world.project,
      env: world.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.on('close', (code) => resolve({ code: code ?? 1, stdout }));
  });
}

async function editor() {
  const desktop =
    !options.browser && spawnSync('code', ['--version'], { shell: process.platform === 'win32' }).status === 0;
  return desktop ? await desktopEditor() : await browserEditor();
}

/** Desktop VS Code with its own user data, so that nothing of the person's own editor takes part. */
async function desktopEditor() {
  await buildAll();
  const data = join(world.folder, 'desktop');
  const args = [
    '--wait',
    '--new-window',
    `--extensionDevelopmentPath=${root}`,
    `--user-data-dir=${data}`,
    '--disable-workspace-trust',
    world.project,
  ];
  console.log('Opening the demo in VS Code. Close its window to end the demo.');
  const child = spawn('code', args, {
    env: { ...process.env, ...world.env, HOME: process.env.HOME },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  return await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

/** VS Code's server, opened in a browser of the person's choice. */
async function browserEditor() {
  if (process.platform === 'win32') {
    console.error(
      'pi-lanes: the browser editor does not run on Windows. Install VS Code and put `code` on PATH, or use --headless.',
    );
    return 1;
  }
  const { packageExtension } = await import('./package.mjs');
  const { createEditorHome } = await import('../test/harness/home.ts');
  const { installExtension } = await import('../test/harness/vsix.ts');
  const { startEditorServer } = await import('../test/harness/server.ts');
  const { workbenchUrl } = await import('../test/harness/workbench-url.ts');
  console.log('Preparing the editor (the first time this takes about a minute)…');
  const home = createEditorHome({
    folder: join(world.folder, 'editor'),
    settings: { 'git.enabled': true, 'workbench.reduceMotion': 'auto' },
  });
  await installExtension(home, await packageExtension());
  const port = options.port === undefined ? undefined : Number(options.port);
  const password = randomBytes(6).toString('hex');
  const server = await startEditorServer({ home, env: world.env, password, ...(port === undefined ? {} : { port }) });
  console.log(`\nOpen this address in a browser (Ctrl+C ends the demo, and with it the model its agents talk to):\n`);
  console.log(`  ${workbenchUrl(server.url, { folder: world.project })}`);
  console.log(`  password: ${password}\n`);
  console.log('Then: the Pi Lanes view in the activity bar, Launch Agent…, "worker", any task.');
  console.log('Or: a script in the folder workflows, and "Run workflow" above its first line.');
  const stop = () => void server.stop();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
  await server.ended;
  return 0;
}

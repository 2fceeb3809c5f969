// The demo's world: a small repository with something to do, and an agent directory that knows only the scripted model.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgentDir } from '../test/support/agent-dir.ts';
import { piCli } from '../test/support/pi-versions.ts';
import { demoTeam, startScriptedModel } from '../test/support/scripted-model/index.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export const DEMO_FILES = {
  'README.md': `# Harbour

A small program that plans which ship gets which berth. It works, but nobody has written down how.

Ask an agent to do that: "Write NOTES.md, a short note for new people, and check it."

The scripts in workflows/ let several agents work on it. Open one and press "Run workflow" above its first line.
`,
  'src/berths.js': `/** Gives each ship the smallest berth that is long enough. */
export function assign(ships, berths) {
  const free = [...berths].sort((a, b) => a.length - b.length);
  return ships.map((ship) => {
    const index = free.findIndex((berth) => berth.length >= ship.length);
    return { ship: ship.name, berth: index < 0 ? null : free.splice(index, 1)[0].name };
  });
}
`,
  'test/notes.test.mjs': `import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('NOTES.md is there and has been checked', () => {
  assert.ok(existsSync('NOTES.md'), 'NOTES.md is missing');
  assert.match(readFileSync('NOTES.md', 'utf8'), /Status: checked/);
});
`,
};

/** Scripts that show what workflows can do; they work on the demo's files. */
export const SAMPLE_WORKFLOWS = join(root, 'samples', 'workflows');

/** Writes the demo's project: a program without notes, and workflows to work on it. */
export function writeDemoProject(project) {
  for (const [name, text] of Object.entries(DEMO_FILES)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  cpSync(SAMPLE_WORKFLOWS, join(project, 'workflows'), { recursive: true });
}

/**
 * One demo of a kind at a time: a second one would pull the folder from under the first.
 * @throws Error naming the process that runs the other one
 */
function claim(folder) {
  const file = join(folder, 'running.json');
  const pid = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).pid : undefined;
  if (pid !== undefined && isAlive(pid)) {
    throw new Error(`this demo is running already (process ${pid}). End it with Ctrl+C, then start it again.`);
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ pid: process.pid })}\n`);
  return () => rmSync(file, { force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Makes the demo's folders anew below \`.cache/demo\` and starts its model. Agents that may edit play the same little piece: read,
 * write, edit, check, report; the others read and report.
 */
/** @param {string} kind name of the demo; each kind has folders of its own */
export async function createDemoWorld(kind) {
  const folder = join(root, '.cache', kind);
  const unclaim = claim(folder);
  const project = join(folder, 'harbour');
  rmSync(project, { recursive: true, force: true });
  writeDemoProject(project);
  const git = (...args) =>
    execFileSync('git', args, { cwd: project, stdio: 'ignore', env: { ...process.env, GIT_CONFIG_NOSYSTEM: '1' } });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=Demo', '-c', 'user.email=demo@example.invalid', 'commit', '--quiet', '-m', 'A harbour');
  const model = await startScriptedModel({ scripts: { default: demoTeam } });
  const agent = await createAgentDir({ modelUrl: model.url, dir: folder });
  // Sockets need a short path: the demo's runners get a folder of their own that goes with it.
  const runtime = mkdtempSync(join(tmpdir(), 'pil-demo-'));
  const env = {
    ...agent.env,
    XDG_RUNTIME_DIR: runtime,
    PI_LANES_PI: await piCli('1.6'),
    PI_LANES_NODE: process.execPath,
  };
  const close = async () => {
    await model.close();
    rmSync(runtime, { recursive: true, force: true });
    unclaim();
  };
  return { folder, project, agentDir: agent.agentDir, env, close };
}

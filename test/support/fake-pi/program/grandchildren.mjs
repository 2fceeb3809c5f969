// Processes that a child leaves behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('grandchild.mjs', import.meta.url));

/**
 * Starts a process that only sleeps. Resolves with its pid as soon as it behaves as asked.
 * @param holds which of the child's pipes it keeps open: `none`, `stdout`, `stderr`, `both`
 */
export async function startGrandchild(holds, { ownSession, ignoreTerm, seconds = 300, bareEnvironment }) {
  const keeps = (pipe, fd) => (holds === pipe || holds === 'both' ? fd : 'ignore');
  const child = spawn(process.execPath, [SCRIPT, String(seconds), ignoreTerm ? 'ignore-term' : 'plain'], {
    stdio: ['ignore', keeps('stdout', 1), keeps('stderr', 2), 'pipe'],
    detached: ownSession ?? false,
    windowsHide: true,
    env: bareEnvironment ? { ELECTRON_RUN_AS_NODE: '1' } : process.env,
  });
  const report = child.stdio[3];
  await Promise.race([once(report, 'data'), once(child, 'error').then(([error]) => Promise.reject(error))]);
  report.destroy();
  child.unref();
  return child.pid;
}

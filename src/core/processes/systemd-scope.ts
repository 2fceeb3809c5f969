/**
 * A runner in a scope of its own under the user's systemd, so that what ends or limits the editor's scope (a logout, a session
 * that is cleaned up, a memory limit) does not reach it. `systemd-run --scope` becomes the program it starts, so the process is
 * the same one.
 */
import type { Command } from '../../protocol/index.ts';
import { childEnvironment } from './environment.ts';
import { runCommand } from './spawn.ts';

const OPTIONS = ['--user', '--scope', '--quiet', '--collect'];
const PROBE_MS = 5000;

/** How the command is started in a scope that people see under this description. */
export function inScope(command: Command, description: string): Command {
  return {
    ...command,
    file: 'systemd-run',
    args: [...OPTIONS, `--description=${description}`, '--', command.file, ...command.args],
  };
}

/** Why no scope can be made here, in words for a person; `undefined`: one can. */
export async function scopeObstacle(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'there is no systemd on this system';
  const { exitCode, failed, stderr, message } = await runCommand(
    { file: 'systemd-run', args: [...OPTIONS, '--', 'true'] },
    { timeoutMs: PROBE_MS, env: childEnvironment(env) },
  );
  if (exitCode === 0) return undefined;
  if (failed === 'timeout') return `systemd-run did not answer within ${PROBE_MS / 1000} s`;
  const said = stderr.trim().split('\n').at(-1);
  return said || (exitCode === undefined ? message : `systemd-run ended with code ${exitCode}`);
}

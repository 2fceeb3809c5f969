import { readFile } from 'node:fs/promises';
import type { ProcessIdentity } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { runCommand } from './spawn.ts';

/**
 * A pid alone says nothing: the system gives it to another process later. The start identity (boot and start time) makes
 * it unique. `gone`: proven not running. `unknown`: the platform cannot tell.
 */
export type Liveness = 'alive' | 'gone' | 'unknown';

/** Start identity of a process; `undefined`: no such process (zombies count as gone); `null`: cannot be told here. */
export async function processStart(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<string | null | undefined> {
  // Zero and below mean groups, the own one among them.
  if (pid <= 0) return undefined;
  if (platform === 'linux') return linuxStart(pid);
  if (platform === 'darwin') return commandStart('ps', ['-o', 'lstart=', '-p', String(pid)], 'ps');
  if (platform === 'win32') {
    const script = `(Get-Process -Id ${pid} -ErrorAction SilentlyContinue).StartTime.ToFileTimeUtc()`;
    return commandStart('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], 'win');
  }
  return existsBySignal(pid) ? null : undefined;
}

export async function identify(pid: number): Promise<ProcessIdentity> {
  return { pid, start: (await processStart(pid)) ?? null };
}

/** Whether exactly this process still runs. */
export async function liveness(identity: ProcessIdentity): Promise<Liveness> {
  const start = await processStart(identity.pid);
  if (start === undefined) return 'gone';
  if (start === null || identity.start === null) return 'unknown';
  return start === identity.start ? 'alive' : 'gone';
}

let bootId: Promise<string> | undefined;

async function linuxStart(pid: number): Promise<string | null | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    // Only these prove something, and only where /proc shows every process. No file handle left proves nothing.
    const absent = ['ENOENT', 'ESRCH'].includes(errnoOf(error) ?? '');
    return absent && !existsBySignal(pid) ? undefined : null;
  }
  const parsed = parseProcStat(stat);
  if (!parsed) return null;
  if (parsed.state === 'Z' || parsed.state === 'X') return undefined;
  bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim().slice(0, 8),
    () => 'noboot',
  );
  return `${await bootId}:${parsed.startTicks}`;
}

export interface ProcStat {
  state: string;
  ppid: number;
  pgid: number;
  startTicks: string;
}

/** Fields of `/proc/<pid>/stat` (proc(5)). The command name may hold spaces and parentheses: read from the last `)`. */
export function parseProcStat(text: string): ProcStat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgid] = fields;
  const startTicks = fields[19];
  if (!state || !ppid || !pgid || !startTicks) return undefined;
  return { state, ppid: Number(ppid), pgid: Number(pgid), startTicks };
}

async function commandStart(file: string, args: string[], prefix: string): Promise<string | null | undefined> {
  const result = await runCommand({ file, args }, { timeoutMs: 5000 });
  if (result.failed === 'spawn' || result.failed === 'timeout') return null;
  const text = result.stdout.trim();
  return text === '' ? undefined : `${prefix}:${text}`;
}

function existsBySignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

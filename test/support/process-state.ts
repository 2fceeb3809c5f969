import { readFileSync } from 'node:fs';

/**
 * Whether a process runs. A killed process whose parent is gone may stay as a zombie for as long as the container's
 * first process does not collect it; that counts as ended (Linux only, elsewhere a zombie still counts as running).
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    // "<pid> (<name>) <state> …": the name may hold spaces and brackets, so the state is behind the last ")".
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}

/** Whether signals wait for a process that it has not taken yet (Linux; elsewhere never known to). */
export function hasPendingSignals(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return [...status.matchAll(/^(?:SigPnd|ShdPnd):\t([0-9a-f]+)$/gm)].some(([, mask]) => BigInt(`0x${mask}`) !== 0n);
  } catch {
    return false;
  }
}

import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/**
 * The living processes whose command line or environment names `folder`; for a home folder these are the servers,
 * browsers and everything that ever descended from them, detached or not. Linux only; elsewhere none are found.
 */
export function processesOf(folder: string): RunningProcess[] {
  if (process.platform !== 'linux') return [];
  const found: RunningProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    // An ended process that nobody has waited for yet has an empty command line.
    if (command && (command.includes(folder) || read(`/proc/${pid}/environ`).includes(folder)))
      found.push({ pid, command });
  }
  return found;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it has just ended, or belongs to someone else
  }
}

/** Finding and ending every process that a child started, also those that left its group or its parent. */
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ProcessIdentity } from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { MARKER_ENV } from './environment.ts';
import { liveness, type ProcStat, parseProcStat, processStart } from './identity.ts';
import { runCommand } from './spawn.ts';

export interface ProcessEntry {
  pid: number;
  ppid: number;
  pgid: number;
}

/** All processes that can be seen; `undefined` where the platform has no listing we trust (Windows). */
export async function listProcesses(platform: NodeJS.Platform = process.platform): Promise<ProcessEntry[] | undefined> {
  if (platform === 'linux') return (await scanProc()).map(({ pid, ppid, pgid }) => ({ pid, ppid, pgid }));
  if (platform === 'win32') return undefined;
  const result = await runCommand({ file: 'ps', args: ['-A', '-o', 'pid=,ppid=,pgid='] }, { timeoutMs: 5000 });
  return result.exitCode === 0 ? parsePs(result.stdout) : undefined;
}

interface SeenProcess extends ProcessEntry {
  /** Clock ticks after the boot. */
  started: number;
}

/** Processes that are looked at before anything else gets its turn. */
const AT_ONCE = 100;

/**
 * All processes but those that are only not waited for yet. `/proc` is no disk: reading it at once takes a tenth of the processor time
 * that asking for it takes.
 */
async function scanProc(): Promise<SeenProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const seen: SeenProcess[] = [];
  for (const [index, name] of pids.entries()) {
    if (index > 0 && index % AT_ONCE === 0) await nextTurn();
    const stat = readStat(name);
    if (stat && stat.state !== 'Z')
      seen.push({ pid: Number(name), ppid: stat.ppid, pgid: stat.pgid, started: Number(stat.startTicks) });
  }
  return seen;
}

function readStat(pid: string): ProcStat | undefined {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return hiddenOrGone(error);
  }
}

/** `undefined`: that process is gone or belongs to somebody else. Throws when nothing is known, as without file handles. */
function hiddenOrGone(error: unknown): undefined {
  if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return undefined;
  throw error;
}

/** Output of `ps -A -o pid=,ppid=,pgid=`. */
export function parsePs(text: string): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const line of text.split('\n')) {
    const [pid, ppid, pgid] = line.trim().split(/\s+/).map(Number);
    if (pid && ppid !== undefined && pgid !== undefined) entries.push({ pid, ppid, pgid });
  }
  return entries;
}

/** Pids below `root`, children before grandchildren, `root` left out. */
export function descendantsOf(root: number, all: readonly ProcessEntry[]): number[] {
  const found: number[] = [];
  for (const parent of [root, ...found]) collect(parent);
  return found;

  function collect(parent: number) {
    for (const entry of all) {
      if (entry.ppid !== parent || entry.pid === root || found.includes(entry.pid)) continue;
      found.push(entry.pid);
      collect(entry.pid);
    }
  }
}

/** Whether a process is found by its marker alone, when its pid is not known. */
export const MARKER_IS_PROOF = process.platform === 'linux';

/**
 * Pids whose environment carries our marker; Linux only. Not at once: the system may let the reader of an environment wait. Whatever
 * got the marker from `root` is younger than it, so that most of the system need not be asked.
 */
async function markedProcesses(marker: string, root: ProcessIdentity, seen: readonly SeenProcess[]): Promise<number[]> {
  const since = Number(root.start?.split(':').at(-1) ?? 0);
  const needle = Buffer.from(`${MARKER_ENV}=${marker}\0`);
  const found = await Promise.all(
    seen.map(async ({ pid, started }) => {
      if (started < since) return undefined;
      const environ = await readFile(`/proc/${pid}/environ`).catch(hiddenOrGone);
      return environ?.includes(needle) ? pid : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

/** What of the system belongs to a child: everything that can be seen, and what carries the marker. */
async function look(marker: string, root: ProcessIdentity): Promise<{ all: ProcessEntry[]; marked: number[] }> {
  if (process.platform !== 'linux') return { all: (await listProcesses()) ?? [], marked: [] };
  const all = await scanProc();
  return { all, marked: await markedProcesses(marker, root, all) };
}

/**
 * A child's processes with their identities: the root, what descends from it, and what carries its marker. Only those that
 * could be found: see `killTree` for proof.
 */
export async function findTree(root: ProcessIdentity, marker: string): Promise<ProcessIdentity[]> {
  return surveyTree(root, marker).then(
    (survey) => survey.members,
    () => [root],
  );
}

export interface TreeSurvey {
  members: ProcessIdentity[];
  /** Nothing can be missing, as far as this platform can tell. */
  complete: boolean;
}

/** Rejects when the system could not be looked at. */
export async function surveyTree(root: ProcessIdentity, marker: string): Promise<TreeSurvey> {
  const { all, marked } = await look(marker, root);
  const state = await liveness(root);
  const pids = new Set(marked);
  const members: ProcessIdentity[] = [];
  if (state === 'alive') {
    for (const pid of descendantsOf(root.pid, all)) pids.add(pid);
    pids.delete(root.pid);
    members.push(root);
  }
  pids.delete(process.pid);
  for (const pid of pids) {
    const start = await processStart(pid);
    if (start !== undefined) members.push({ pid, start });
  }
  return { members, complete: state !== 'unknown' };
}

/** Sends a signal to exactly this process and, where it leads one, its group. Never to a pid that is now somebody else. */
export async function signalProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  options: { group: boolean },
): Promise<void> {
  const state = await liveness(identity);
  if (state === 'gone') return;
  if (state === 'unknown' && process.platform === 'linux') return;
  for (const target of options.group && process.platform !== 'win32' ? [-identity.pid, identity.pid] : [identity.pid]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // No such group: signal the process alone. No such process: it is gone already.
    }
  }
}

/**
 * Ends the child's processes and what they start meanwhile. `gone` only when all that were ever found are proven gone: one
 * that lost its parent and its marker is found no more.
 *
 * @param options.known processes that were found earlier
 * @param options.empty a survey that was made since all of them had ended: where nobody is there, nobody can have come
 */
export async function killTree(
  root: ProcessIdentity,
  marker: string,
  options: { deadlineMs: number; known?: readonly ProcessIdentity[]; empty?: TreeSurvey | undefined },
): Promise<'gone' | 'unknown'> {
  if (process.platform === 'win32') {
    // Pid 0 is the system itself.
    if (root.pid <= 0) return 'unknown';
    await runCommand(
      { file: 'taskkill', args: ['/PID', String(root.pid), '/T', '/F'] },
      { timeoutMs: options.deadlineMs },
    );
    return 'unknown';
  }
  const deadline = performance.now() + options.deadlineMs;
  let left = new Map((options.known ?? []).map((member) => [keyOf(member), member]));
  for (let first = true; ; first = false) {
    const given = first && options.empty?.members.length === 0 ? options.empty : undefined;
    const survey = given ?? (await surveyTree(root, marker).catch(() => undefined));
    for (const member of survey?.members ?? []) left.set(keyOf(member), member);
    left = await withoutGone(left);
    if (survey?.complete && left.size === 0) {
      return process.platform === 'linux' || (await groupIsEmpty(root.pid)) ? 'gone' : 'unknown';
    }
    if (performance.now() > deadline) return 'unknown';
    for (const member of left.values()) await signalProcess(member, 'SIGKILL', { group: true });
    await delay(25);
  }
}

function keyOf({ pid, start }: ProcessIdentity): string {
  return `${pid} ${start}`;
}

async function withoutGone(all: ReadonlyMap<string, ProcessIdentity>): Promise<Map<string, ProcessIdentity>> {
  const found = await Promise.all([...all].map(async (one) => ({ one, state: await liveness(one[1]) })));
  return new Map(found.flatMap(({ one, state }) => (state === 'gone' ? [] : [one])));
}

async function groupIsEmpty(pgid: number): Promise<boolean> {
  const all = await listProcesses();
  return all !== undefined && !all.some((entry) => entry.pgid === pgid);
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  childEnvironment,
  childMarker,
  descendantsOf,
  findTree,
  identify,
  killTree,
  listProcesses,
  liveness,
  MARKER_ENV,
  parseProcStat,
  parsePs,
  processStart,
  runCommand,
  signalProcess,
  spawnDetached,
  spawnPiped,
} from '../../src/core/processes/index.ts';
import { isAlive } from '../support/process-state.ts';
import { tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';

/** Makes reading below /proc fail with this code. */
const { proc } = vi.hoisted(() => ({ proc: { fail: '' } }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  const readFile: typeof fs.readFile = ((path: string, ...rest: []) =>
    proc.fail && String(path).startsWith('/proc/')
      ? Promise.reject(Object.assign(new Error(proc.fail), { code: proc.fail }))
      : fs.readFile(path, ...rest)) as typeof fs.readFile;
  return { ...fs, readFile };
});

const linux = process.platform === 'linux';
const posix = process.platform !== 'win32';
const pids: number[] = [];

afterEach(() => {
  proc.fail = '';
  for (const pid of pids.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone already: what the test is about.
    }
  }
});

function kept<T extends ChildProcess>(child: T): T {
  if (child.pid !== undefined) pids.push(child.pid);
  return child;
}

const sleeper = (env: NodeJS.ProcessEnv = process.env) =>
  kept(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env, stdio: 'ignore' }));

async function endedProcess() {
  const child = sleeper();
  const identity = await identify(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return identity;
}

describe('the identity of a process', () => {
  it('reads /proc/<pid>/stat whatever the name of the program is', () => {
    const fields = (name: string) =>
      `4711 (${name}) S 42 43 44 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 11 0 987654 123 456 18446744073709551615 1 1\n`;
    for (const name of ['node', 'Web Content', 'a) R 1 2 (b', ') Z 9 9', '', '((']) {
      expect(parseProcStat(fields(name)), name).toEqual({ state: 'S', ppid: 42, pgid: 43, startTicks: '987654' });
    }
    expect(parseProcStat('')).toBeUndefined();
    expect(parseProcStat('4711 (node) S 42')).toBeUndefined();
  });

  it('is the same every time, and another for another process', async () => {
    const mine = await identify(process.pid);
    expect(mine).toEqual({ pid: process.pid, start: expect.stringMatching(/\S/) });
    expect(await identify(process.pid)).toEqual(mine);
    const other = await identify(sleeper().pid ?? 0);
    expect(other.start).not.toBe(mine.start);
  });

  it.runIf(linux)('names the boot and the start in clock ticks', async () => {
    const stat = await readFile('/proc/self/stat', 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    expect(await processStart(process.pid)).toBe(`${boot.slice(0, 8)}:${parseProcStat(stat)?.startTicks}`);
  });
});

describe('liveness', () => {
  it('is alive for a running process and gone for one that ended', async () => {
    expect(await liveness(await identify(process.pid))).toBe('alive');
    expect(await liveness(await endedProcess())).toBe('gone');
  });

  it('is gone when the pid belongs to another process now', async () => {
    expect(await liveness({ pid: process.pid, start: 'another start' })).toBe('gone');
  });

  it('is unknown without an identity to compare', async () => {
    expect(await liveness({ pid: process.pid, start: null })).toBe('unknown');
  });

  it.runIf(linux)('counts a process that waits to be collected as gone', async () => {
    // The shell starts a process and becomes one that never collects it.
    const script = 'sleep 300 & echo $!; exec sleep 300';
    const parent = kept(spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] }));
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    await waitFor('the change', async () => (await readFile(`/proc/${parent.pid}/comm`, 'utf8')) === 'sleep\n');
    expect(await processStart(pid)).toEqual(expect.any(String));
    process.kill(pid, 'SIGKILL');
    await waitFor('a zombie', async () => parseProcStat(await readFile(`/proc/${pid}/stat`, 'utf8'))?.state === 'Z');
    expect(await processStart(pid)).toBeUndefined();
  });

  it.runIf(linux)('is unknown, not gone, when the system has no file handle left to look', async () => {
    const mine = await identify(process.pid);
    for (const code of ['EMFILE', 'EACCES', 'ENOENT']) {
      proc.fail = code;
      expect(await liveness(mine), code).toBe('unknown');
    }
  });
});

describe('the tree of processes', () => {
  it('reads ps', () => {
    const text = '    1     0     1\n  812     1   812\n 9001   812   812\n\n  garbage line\n';
    expect(parsePs(text)).toEqual([
      { pid: 1, ppid: 0, pgid: 1 },
      { pid: 812, ppid: 1, pgid: 812 },
      { pid: 9001, ppid: 812, pgid: 812 },
    ]);
  });

  it('finds all below a process, parents before their children, and nobody else', () => {
    const entry = (pid: number, ppid: number) => ({ pid, ppid, pgid: pid });
    const all = [entry(5, 4), entry(1, 0), entry(2, 1), entry(3, 1), entry(4, 2), entry(9, 8), entry(8, 0)];
    const found = descendantsOf(1, all);
    expect([...found].sort()).toEqual([2, 3, 4, 5]);
    expect(found.indexOf(2)).toBeLessThan(found.indexOf(4));
    expect(found.indexOf(4)).toBeLessThan(found.indexOf(5));
    expect(descendantsOf(5, all)).toEqual([]);
    // A process that is its own ancestor cannot be, but a listing is not taken at one moment.
    expect(descendantsOf(1, [entry(1, 2), entry(2, 1)])).toEqual([2]);
  });

  it.runIf(posix)('lists this process with its parent', async () => {
    const all = await listProcesses();
    expect(all).toContainEqual(expect.objectContaining({ pid: process.pid, ppid: process.ppid }));
  });

  it.runIf(linux)('is listed the same by ps', async () => {
    const child = sleeper();
    const find = (all: Awaited<ReturnType<typeof listProcesses>>) => all?.find((entry) => entry.pid === child.pid);
    expect(find(await listProcesses('darwin'))).toEqual(find(await listProcesses('linux')));
    expect(find(await listProcesses())).toMatchObject({ ppid: process.pid });
    expect(await listProcesses('win32')).toBeUndefined();
  });

  /** A child with a grandchild in its own session; in the end the child may have left it alone. */
  async function family(mode: 'stay' | 'leave', marker: string, ...more: 'bare'[]) {
    const env = childEnvironment(process.env, { [MARKER_ENV]: marker });
    const worker = join(import.meta.dirname, 'workers', 'leave-grandchild.ts');
    const root = kept(
      spawnPiped({ file: process.execPath, args: [worker, mode, ...more] }, { cwd: import.meta.dirname, env }),
    );
    const exited = once(root, 'exit');
    const identity = await identify(root.pid ?? 0);
    const grandchild = Number(String((await once(root.stdout, 'data'))[0]));
    pids.push(grandchild);
    if (mode === 'leave') await exited;
    return { root: identity, grandchild };
  }

  it.runIf(linux)('is found and ended with a grandchild that has a session of its own', async () => {
    const { root, grandchild } = await family('stay', childMarker('a', 1));
    const members = await findTree(root, childMarker('a', 1));
    expect(members[0]).toEqual(root);
    expect(members.map((member) => member.pid).sort()).toEqual([root.pid, grandchild].sort());
    expect(await killTree(root, childMarker('a', 1), { deadlineMs: 5_000 })).toBe('gone');
    expect([isAlive(root.pid), isAlive(grandchild)]).toEqual([false, false]);
  });

  it.runIf(linux)('is found and ended with a grandchild that lost its marker', async () => {
    const { root, grandchild } = await family('stay', childMarker('b', 1), 'bare');
    expect(await findTree(root, childMarker('b', 1))).toEqual([root, await identify(grandchild)]);
    // The grandchild is listed while its parent lives, and so is known after it.
    expect(await killTree(root, childMarker('b', 1), { deadlineMs: 5_000 })).toBe('gone');
    expect([isAlive(root.pid), isAlive(grandchild)]).toEqual([false, false]);
  });

  it.runIf(linux)('is ended with what was found earlier, although nothing leads to it any more', async () => {
    const { root, grandchild } = await family('leave', childMarker('d', 1), 'bare');
    expect(await findTree(root, childMarker('d', 1))).toEqual([]);
    const known = [await identify(grandchild)];
    expect(await killTree(root, childMarker('d', 1), { deadlineMs: 5_000, known })).toBe('gone');
    expect(isAlive(grandchild)).toBe(false);
  });

  it.runIf(linux)('is not called gone while one that was found is still there', async () => {
    const { root, grandchild } = await family('stay', childMarker('e', 1), 'bare');
    // The root ends at once; the grandchild, which nothing leads to then, takes its time.
    const kill = process.kill.bind(process);
    const spared = vi
      .spyOn(process, 'kill')
      .mockImplementation((pid, signal) => Math.abs(pid) === grandchild || kill(pid, signal));
    expect(await killTree(root, childMarker('e', 1), { deadlineMs: 300 })).toBe('unknown');
    spared.mockRestore();
    expect([isAlive(root.pid), isAlive(grandchild)]).toEqual([false, true]);
    // A pid that belongs to somebody else by now is nobody of ours.
    const known = [{ pid: process.pid, start: 'another start' }];
    expect(await killTree(root, childMarker('e', 1), { deadlineMs: 5_000, known })).toBe('gone');
  });

  it.runIf(linux)('is found by its marker when the child has left the grandchild alone', async () => {
    const marker = childMarker('run', 1);
    const stranger = sleeper({ ...process.env, [MARKER_ENV]: childMarker('run', 11) });
    const { root, grandchild } = await family('leave', marker);
    expect(await findTree(root, marker)).toEqual([await identify(grandchild)]);
    expect(await killTree(root, marker, { deadlineMs: 5_000 })).toBe('gone');
    expect(isAlive(grandchild)).toBe(false);
    expect(isAlive(stranger.pid ?? 0)).toBe(true);
    expect(await findTree(root, marker)).toEqual([]);
  });

  it.runIf(linux)('is not called gone when the system could not be looked at', async () => {
    const child = sleeper({ ...process.env, [MARKER_ENV]: childMarker('c', 1) });
    const root = await identify(child.pid ?? 0);
    proc.fail = 'EMFILE';
    expect(await killTree(root, childMarker('c', 1), { deadlineMs: 60 })).toBe('unknown');
    expect(await findTree(root, childMarker('c', 1))).toEqual([root]);
    expect(isAlive(root.pid)).toBe(true);
    proc.fail = '';
    // Found by its marker, although its own identity was never known.
    expect(await killTree({ ...root, start: null }, childMarker('c', 1), { deadlineMs: 5_000 })).toBe('gone');
    expect(isAlive(root.pid)).toBe(false);
  });

  it.runIf(linux)('is not called gone when the child cannot be told from another process', async () => {
    const child = sleeper();
    const root = { pid: child.pid ?? 0, start: null };
    expect(await killTree(root, 'nobody', { deadlineMs: 60 })).toBe('unknown');
    expect(isAlive(root.pid)).toBe(true);
  });

  it.runIf(linux)('is not called gone when the deadline passes first', async () => {
    const child = sleeper();
    const root = await identify(child.pid ?? 0);
    expect(await killTree(root, 'nobody', { deadlineMs: -1 })).toBe('unknown');
    expect(isAlive(root.pid)).toBe(true);
  });
});

describe('a signal', () => {
  it('reaches exactly the process it is meant for', async () => {
    const child = sleeper();
    const identity = await identify(child.pid ?? 0);
    await signalProcess({ ...identity, start: 'another start' }, 'SIGKILL', { group: true });
    await signalProcess({ ...identity, start: 'another start' }, 'SIGKILL', { group: false });
    if (linux) await signalProcess({ ...identity, start: null }, 'SIGKILL', { group: false });
    expect(isAlive(identity.pid)).toBe(true);
    const exited = once(child, 'exit');
    await signalProcess(identity, 'SIGTERM', { group: true });
    expect((await exited)[1]).toBe(posix ? 'SIGTERM' : expect.anything());
    await signalProcess(identity, 'SIGTERM', { group: true });
  });

  it.runIf(posix)('reaches the whole group of a process that leads one', async () => {
    const script = 'sleep 300 & echo $!; wait';
    const options = { cwd: import.meta.dirname, env: childEnvironment(process.env) };
    const leader = kept(spawnPiped({ file: '/bin/sh', args: ['-c', script] }, options));
    const member = Number(String((await once(leader.stdout, 'data'))[0]));
    pids.push(member);
    await signalProcess(await identify(leader.pid ?? 0), 'SIGKILL', { group: true });
    await waitFor('the end of both', () => !isAlive(member) && !isAlive(leader.pid ?? 0));
  });
});

describe('the environment of a child', () => {
  it('is that of the person, without what the editor and Node put there', () => {
    const env = {
      PATH: '/bin',
      HOME: '/home/me',
      EMPTY: '',
      NODE_ENV: 'test',
      MY_VSCODE_THING: 'mine',
      UNDEFINED: undefined,
      ELECTRON_RUN_AS_NODE: '1',
      ELECTRON_NO_ASAR: '1',
      VSCODE_PID: '7',
      VSCODE_IPC_HOOK_CLI: '/x',
      NODE_OPTIONS: '--inspect',
      NODE_CHANNEL_FD: '3',
      PI_LANES_START: '{"token":"secret"}',
      PI_LANES_FAULT: 'run.ended:before',
      // An agent that starts runs: they are not its own processes.
      PI_LANES_CHILD: 'run/1',
    };
    expect(childEnvironment(env, { EXTRA: 'x', HOME: '/other' })).toEqual({
      PATH: '/bin',
      HOME: '/other',
      EMPTY: '',
      NODE_ENV: 'test',
      MY_VSCODE_THING: 'mine',
      EXTRA: 'x',
    });
  });

  it('can be told from that of every other child', () => {
    const marks = [childMarker('a', 1), childMarker('a', 11), childMarker('b', 1)];
    expect(new Set(marks).size).toBe(3);
  });
});

describe('running a command', () => {
  const node = (script: string) => ({ file: process.execPath, args: ['-e', script] });

  it('gives what it said and how it ended', async () => {
    const script = 'process.stdout.write("out ü\\n"); process.stderr.write("err"); process.exitCode = 3';
    const result = await runCommand(node(script), { timeoutMs: 10_000 });
    expect(result).toMatchObject({ stdout: 'out ü\n', stderr: 'err', exitCode: 3, failed: undefined });
  });

  it('gives it only the environment, the folder and the input it is told to', async () => {
    await using folder = await tempDir({ name: 'awkward' });
    const script = 'process.stdin.pipe(process.stdout); console.log(process.cwd(), process.env.A, process.env.HOME)';
    const options = { cwd: folder.path, env: { A: '1' }, input: 'fed', timeoutMs: 10_000 };
    const result = await runCommand(node(script), options);
    expect(result.stdout).toBe(`${folder.path} 1 undefined\nfed`);
  });

  it('never throws: it says why there is no exit code', async () => {
    const missing = await runCommand({ file: '/no/such/program', args: [] }, { timeoutMs: 10_000 });
    expect(missing).toMatchObject({ failed: 'spawn', exitCode: undefined, message: expect.stringContaining('ENOENT') });
    const slow = await runCommand(node('setInterval(() => {}, 1000)'), { timeoutMs: 100 });
    expect(slow).toMatchObject({ failed: 'timeout', exitCode: undefined });
    const killed = await runCommand(node('process.kill(process.pid, "SIGKILL")'), { timeoutMs: 10_000 });
    expect(killed).toMatchObject({ failed: 'signal', exitCode: undefined });
  });

  it('starts no shell', async () => {
    const args = ['-e', 'console.log(process.argv[1])', '$HOME; `id` && "x"'];
    const result = await runCommand({ file: process.execPath, args }, { timeoutMs: 10_000 });
    expect(result.stdout).toBe('$HOME; `id` && "x"\n');
  });
});

it.runIf(posix)('a detached process leads a session of its own and writes to the given file', async () => {
  await using folder = await tempDir();
  const log = await open(join(folder.path, 'log'), 'w');
  const script = 'console.log(process.env.A); console.error("err"); setInterval(() => {}, 1000)';
  const options = { cwd: folder.path, env: { A: 'told' }, logFd: log.fd };
  const child = kept(spawnDetached({ file: process.execPath, args: ['-e', script] }, options));
  await log.close();
  await waitFor('its words', async () => (await readFile(join(folder.path, 'log'), 'utf8')) === 'told\nerr\n');
  const entry = (await listProcesses())?.find((one) => one.pid === child.pid);
  expect(entry).toEqual({ pid: child.pid, ppid: process.pid, pgid: child.pid });
  if (linux) {
    const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
    expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]).toBe(`${child.pid}`);
  }
});

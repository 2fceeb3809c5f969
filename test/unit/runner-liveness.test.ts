/** What is believed about a runner: proof about its process and its answer, never its age, and never a pid alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSnapshot } from '../../src/client/run-snapshot.ts';
import { newAddress, RpcPeer } from '../../src/core/ipc/index.ts';
import { identify } from '../../src/core/processes/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { type ProcessIdentity, RPC_VERSION } from '../../src/protocol/index.ts';
import { OpenRun } from '../../src/runner/open-run.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { type WrittenRun, writeRun } from './builders/run.ts';

/** What /proc says about these pids: nothing. */
const { hidden } = vi.hoisted(() => ({ hidden: new Set<number>() }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  const readFile: typeof fs.readFile = ((path: string, ...rest: []) =>
    hidden.has(Number(/^\/proc\/(\d+)\//.exec(String(path))?.[1]))
      ? Promise.reject(Object.assign(new Error('ENOENT'), { code: 'ENOENT' }))
      : fs.readFile(path, ...rest)) as typeof fs.readFile;
  return { ...fs, readFile };
});

const DAY_MS = 24 * 60 * 60 * 1000;
let folder: TempDir;
let server: Server | undefined;

beforeEach(async () => {
  folder = await tempDir();
});
afterEach(async () => {
  hidden.clear();
  vi.restoreAllMocks();
  await new Promise<unknown>((done) => (server ? server.close(done) : done(undefined)));
  server = undefined;
  await folder.remove();
});

const address = () => newAddress({ XDG_RUNTIME_DIR: folder.path });

/** Answers the handshake as a runner does. */
async function answersAt(socket: string): Promise<void> {
  server = createServer((connection) => {
    const peer = new RpcPeer(connection);
    peer.handle('hello', () => ({ version: RPC_VERSION, runnerVersion: '0', runId: newRunId() }));
    peer.listen();
  });
  await new Promise<void>((done) => server?.listen(socket, done));
}

/** A run that was begun, and last written to, 30 hours ago. */
function oldRun(runner: ProcessIdentity, socket: string): Promise<WrittenRun> {
  const at = Date.now() - 1.25 * DAY_MS;
  return writeRun(folder.path, {
    record: { createdAt: at },
    at,
    events: [{ ...oneOfEach['runner.started'], process: runner }, oneOfEach['run.proceeded']],
    lease: runner,
    owner: { socket, token: 'secret' },
  });
}

async function withProcess<T>(work: (runner: ProcessIdentity, end: () => Promise<void>) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const end = async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  };
  try {
    return await work(await identify(child.pid ?? 0), end);
  } finally {
    await end();
  }
}

const stateOf = async ({ runId, directory }: WrittenRun) => (await readSnapshot(runId, directory)).state;

describe('run-54 a runner that has been silent for 24 hours', () => {
  it('is running as long as it answers', () =>
    withProcess(async (runner) => {
      const socket = await address();
      await answersAt(socket);
      expect(await stateOf(await oldRun(runner, socket))).toBe('running');
    }));

  it('is unresponsive when it does not, never lost while its process lives, and cannot be taken over', () =>
    withProcess(async (runner, end) => {
      const run = await oldRun(runner, await address());
      expect(await stateOf(run)).toBe('unresponsive');
      const order = { kind: 'recover', runId: run.runId, projectDirectory: folder.path, settle: 'stop' } as const;
      const take = { ...order, by: run.record.owner, address: await address(), token: 't', log: '/nowhere.log' };
      await expect(OpenRun.takeOver(take)).rejects.toMatchObject({ code: 'lock_held' });
      await end();
      expect(await stateOf(run)).toBe('lost');
    }));
});

describe.runIf(process.platform === 'linux')(
  'run-53 a runner that belongs to somebody else and cannot be looked at',
  () => {
    const stranger: ProcessIdentity = { pid: 4_000_123, start: 'boot:1' };
    beforeEach(() => {
      hidden.add(stranger.pid);
      const kill = process.kill.bind(process);
      vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
        if (Math.abs(pid) !== stranger.pid) return kill(pid, signal);
        throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
      });
    });

    it('is running when it answers', async () => {
      const socket = await address();
      await answersAt(socket);
      expect(await stateOf(await oldRun(stranger, socket))).toBe('running');
    });

    it('is never lost: what cannot be told is unknown', async () => {
      const run = await oldRun(stranger, await address());
      expect(await stateOf(run)).toBe('unknown');
      expect(process.kill).toHaveBeenCalledWith(stranger.pid, 0);
    });
  },
);

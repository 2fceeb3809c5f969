/** An end comes although something that takes part in it hangs. */
import { rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectSocket, newAddress, RpcPeer } from '../../src/core/ipc/index.ts';
import { childLayout } from '../../src/core/projects/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { AliveClock, inTime } from '../../src/core/time/index.ts';
import { RPC_VERSION } from '../../src/protocol/index.ts';
import { ChildDesk } from '../../src/runner/child-desk.ts';
import { cutOff } from '../../src/runner/child-talk.ts';
import { Deadlines } from '../../src/runner/deadlines.ts';
import { KeptRecord } from '../../src/runner/kept-record.ts';
import { RunControl } from '../../src/runner/run-control.ts';
import { type Handlers, RunnerServer } from '../../src/runner/server.ts';
import { Steering } from '../../src/runner/steering.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { FakeChild } from './builders/child.ts';
import { openRun } from './builders/open-run.ts';

/** Files with these names are never opened: as on a disk that does not answer. */
const { stuck } = vi.hoisted(() => ({ stuck: new Set<string>() }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  const open: typeof fs.open = (path, ...rest) =>
    [...stuck].some((name) => String(path).endsWith(name)) ? new Promise(() => {}) : fs.open(path, ...rest);
  return { ...fs, open };
});

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(async () => {
  stuck.clear();
  vi.useRealTimers();
  await folder.remove();
});

describe('a wait with a deadline', () => {
  it('gives what comes in time, and nothing for what does not', async () => {
    expect(await inTime(Promise.resolve(1), 1000)).toBe(1);
    expect(await inTime(new Promise(() => {}), 1)).toBeUndefined();
    await expect(inTime(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no');
  });

  it('a failure that comes too late is nobody’s unhandled error', async () => {
    const late = Promise.withResolvers<void>();
    expect(await inTime(late.promise, 1)).toBeUndefined();
    late.reject(new Error('too late'));
    await expect(late.promise).rejects.toThrow('too late');
  });
});

describe('a child', () => {
  it('that does not go and tells nothing is cut short as what ended it', async () => {
    const control = new RunControl();
    control.request('stop');
    const child = new FakeChild();
    child.end = async () => ({ exitCode: null, signal: null, tree: 'unknown', note: null });
    expect(await cutOff({ control }, child, 10)).toMatchObject({ state: 'stopped', error: null });
  });

  it.each(['transcript.jsonl', 'stderr.log'])(
    'whose %s cannot be written or closed ends all the same',
    async (name) => {
      const { run } = await openRun(folder.path);
      await run.childFolder(1);
      const clock = new AliveClock();
      const limits = { index: 1, scope: 'run' as const, timeoutMs: null, toolTimeoutMs: undefined };
      const deadlines = new Deadlines(clock, limits, new RunControl(), async () => undefined);
      const plan = run.record.mode === 'workflow' ? undefined : run.record.child;
      if (!plan) throw new Error('not a single run');
      const layout = childLayout(run.layout.directory, 1);
      const desk = new ChildDesk(run, { index: 1, plan }, layout, deadlines, new Steering(run));
      stuck.add(name);
      desk.remark('something to read');
      desk.onEvent({ type: 'stderr', text: 'a warning\n' });
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      let at = '';
      const over = desk
        .workOver()
        .then(() => {
          at = 'over';
          return desk.close();
        })
        .then(() => {
          at = 'closed';
        });
      for (let waited = 0; waited < 7000 && at !== 'closed'; waited += 500) {
        await vi.advanceTimersByTimeAsync(500);
        // Real files in between.
        await stat(folder.path);
      }
      expect(at).toBe('closed');
      await over;
      vi.useRealTimers();
      clock.dispose();
    },
  );
});

it('a server closes although an answer never comes', async () => {
  const address = await newAddress({ XDG_RUNTIME_DIR: folder.path });
  const never = () => new Promise<never>(() => {});
  const asked = Promise.withResolvers<void>();
  const ping = () => {
    asked.resolve();
    return never();
  };
  const handlers: Handlers = {
    start: never,
    proceed: never,
    ping,
    status: never,
    stop: never,
    interrupt: never,
    steer: never,
    answer: never,
  };
  const server = await RunnerServer.listen(address, { token: 'secret', runId: newRunId() }, handlers);
  const peer = new RpcPeer(await connectSocket(address, 1000));
  peer.listen();
  const client = { kind: 'cli', version: 'test' } as const;
  await peer.request('hello', { token: 'secret', version: RPC_VERSION, client }, { deadlineMs: 1000 });
  const answer = peer.request('ping', {}, { deadlineMs: 60_000 });
  const refused = expect(answer).rejects.toMatchObject({ code: 'runner_unreachable' });
  await asked.promise;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = server.close();
  await vi.advanceTimersByTimeAsync(5000);
  vi.useRealTimers();
  await closed;
  await refused;
});

describe('the record of a live run', () => {
  const BODY = '{"version":1}\n';
  const at = () => join(folder.path, 'run.json');

  it('is not touched as long as it says the same, whatever its times say', async () => {
    await writeFile(at(), BODY);
    const record = new KeptRecord(at(), BODY);
    const { ino } = await stat(at());
    expect(await record.keep()).toBe('sound');
    await utimes(at(), 1, 1);
    expect(await record.keep()).toBe('sound');
    expect((await stat(at())).ino).toBe(ino);
  });

  it('is written again when it was changed, also to the same length, and again the next time', async () => {
    await writeFile(at(), BODY);
    const record = new KeptRecord(at(), BODY);
    await record.keep();
    for (const spoil of [() => writeFile(at(), BODY.replace('1', '2')), () => writeFile(at(), ''), () => rm(at())]) {
      await spoil();
      expect(await record.keep()).toBe('rewritten');
      expect(await record.keep()).toBe('sound');
    }
  });
});

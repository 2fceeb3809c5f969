/** How a follower finds out whether the runner of its run still answers. */
import { appendFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answers } from '../../src/client/connect.ts';
import { RunFollower } from '../../src/client/run-snapshot.ts';
import { newAddress, RpcPeer } from '../../src/core/ipc/index.ts';
import { JournalWriter } from '../../src/core/journal/index.ts';
import { runLayout } from '../../src/core/projects/index.ts';
import { type ErrorCode, LanesError, lanesError, RPC_VERSION } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { ended, me, type WrittenRun, writeRun } from './builders/run.ts';

type Manner = 'answer' | 'hang up' | ErrorCode;

let folder: TempDir;
let server: Server;
let run: WrittenRun;
let manner: Manner;
/** How often the runner was asked. */
let asked: number;
/** What happens meanwhile. */
let whenAsked: () => void;
/** Milliseconds that pass on the follower's clock without anybody waiting for them. */
let passed: number;

beforeEach(async () => {
  folder = await tempDir();
  manner = 'answer';
  asked = passed = 0;
  whenAsked = () => undefined;
  const socket = await newAddress({ XDG_RUNTIME_DIR: folder.path });
  run = await writeRun(folder.path, {
    events: [oneOfEach['run.proceeded']],
    lease: await me(),
    owner: { socket, token: 'secret' },
  });
  server = createServer((connection) => {
    asked++;
    whenAsked();
    if (manner === 'hang up') {
      connection.destroy();
      return;
    }
    const peer = new RpcPeer(connection);
    peer.handle('hello', ({ token }) => {
      if (token !== 'secret') throw lanesError('runner_refused:token');
      if (manner !== 'answer' && manner !== 'hang up') throw new LanesError({ code: manner, message: 'Refused.' });
      return { version: RPC_VERSION, runnerVersion: '0', runId: run.runId };
    });
    peer.listen();
  });
  await new Promise<void>((done) => server.listen(socket, done));
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await new Promise((done) => server.close(done));
  await folder.remove();
});

const follower = () => new RunFollower(run.runId, run.directory);

describe('a follower', () => {
  it('asks a runner that answers every five seconds at most, however often it looks', async () => {
    const one = follower();
    const states = await Promise.all(Array.from({ length: 20 }, () => one.snapshot()));
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['running']));
    expect(asked).toBe(1);
    passed += 4_000;
    await one.snapshot();
    expect(asked).toBe(1);
    passed += 1_000;
    for (let i = 0; i < 5; i++) await one.snapshot();
    expect(asked).toBe(2);
  });

  it('asks for itself alone', async () => {
    await Promise.all([follower().snapshot(), follower().snapshot()]);
    expect(asked).toBe(2);
  });

  it('finds a runner that falls silent within five seconds, and its return at once', async () => {
    const one = follower();
    expect((await one.snapshot()).state).toBe('running');
    manner = 'hang up';
    expect((await one.snapshot()).state).toBe('running');
    passed += 5_000;
    expect((await one.snapshot()).state).toBe('unresponsive');
    const before = asked;
    expect((await one.snapshot()).state).toBe('unresponsive');
    expect(asked).toBeGreaterThan(before);
    manner = 'answer';
    expect((await one.snapshot()).state).toBe('running');
    const then = asked;
    await one.snapshot();
    expect(asked).toBe(then);
  });

  it('looks into the journal once more before it says that a runner is silent', async () => {
    manner = 'hang up';
    // The runner writes its end while it is asked.
    whenAsked = () =>
      appendFileSync(
        runLayout(run.directory).journal,
        `${JSON.stringify({ seq: 2, t: 3_000, ...ended('complete') })}\n`,
      );
    expect(await follower().snapshot()).toMatchObject({ state: 'complete', view: { seq: 2 } });
    expect(asked).toBe(1);
  });

  it('asks nobody about a run that has ended', async () => {
    const journal = await JournalWriter.open(runLayout(run.directory).journal);
    await journal.append([ended('failed')], { sync: false });
    await journal.close();
    expect((await follower().snapshot()).state).toBe('failed');
    expect(asked).toBe(0);
  });
});

describe('what a person is told', () => {
  it('is what can be done about a runner that is silent, and nothing about one that answers', async () => {
    const one = follower();
    expect((await one.snapshot()).error).toBeNull();
    passed += 5_000;
    manner = 'hang up';
    expect(await one.snapshot()).toMatchObject({
      state: 'unresponsive',
      error: { code: 'runner_unreachable', hint: expect.stringContaining('Force Stop') },
      view: { state: 'running', error: null },
    });
    manner = 'answer';
    expect((await one.snapshot()).error).toBeNull();
  });
});

describe('a runner of another version', () => {
  const client = { kind: 'test', version: '0' };

  it('answers, although it refuses: there is nothing to force', async () => {
    manner = 'journal_newer';
    expect(await answers(run.directory, client)).toBe(true);
    expect((await follower().snapshot()).state).toBe('running');
  });

  it('is not one that refuses the token: that is the runner of another run', async () => {
    manner = 'runner_refused';
    expect(await answers(run.directory, client)).toBe(false);
    expect((await follower().snapshot()).state).toBe('unresponsive');
  });
});

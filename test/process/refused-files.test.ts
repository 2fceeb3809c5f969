/** Runs whose files the system refuses to write: a missing permission, a file that another program holds. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allStores, steerRun, TranscriptFollower } from '../../src/client/index.ts';
import { newRunId } from '../../src/core/runs/index.ts';
import { owner, TestRun } from '../support/control-matrix-runs.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { type RefusedFiles, refusedFiles } from '../support/refused-files.ts';
import { tempDir } from '../support/temp.ts';
import { createWorld, type World } from '../support/world.ts';

const CODES = ['EACCES', 'EPERM', 'EBUSY'] as const;

const stack = new AsyncDisposableStack();
let fake: FakePi;
let world: World;
let files: RefusedFiles;

beforeAll(async () => {
  files = await refusedFiles(stack.use(await tempDir()).path);
  ({ fake, world } = await fakeWorld(stack, { node: files.node }));
});
afterAll(() => expectNobodyLeft(stack, { fake, world }));

let gates = 0;

/** A run in the middle of its work; `goOn` lets it come to its answer, `the end`. */
async function atWork(): Promise<{ run: TestRun; goOn: () => Promise<void> }> {
  const gate = `at-work-${++gates}`;
  await files.refuse();
  const run = await TestRun.start(
    world,
    fakeTask({ key: gate, steps: [{ say: 'begun' }, { gate }, { say: 'the end' }] }),
  );
  await fake.arrivedAt(gate);
  return { run, goOn: () => fake.open(gate) };
}

async function expectOneEnd(run: TestRun): Promise<void> {
  expect((await run.lines()).map(({ type }) => type).filter((type) => type === 'run.ended')).toHaveLength(1);
  expect(await run.all('child.ended')).toMatchObject([{ tree: 'gone' }]);
  await files.refuse();
}

async function shownText(run: TestRun): Promise<string> {
  const transcript = new TranscriptFollower(run.directory, 1);
  await transcript.refresh();
  return transcript.toString();
}

describe('a run in the middle of its work', () => {
  test.each(CODES)('whose result is refused with %s fails by name, and its answer is not lost', async (code) => {
    const { run, goOn } = await atWork();
    await files.refuse({ code, path: 'result\\.json' });
    await goOn();
    const { state, error } = await run.end();
    expect({ state, error }).toMatchObject({
      state: 'failed',
      error: {
        code: 'result_unsaved',
        message: expect.stringContaining(code),
        hint: expect.stringContaining('.jsonl'),
      },
    });
    expect(await shownText(run)).toContain('the end');
    await expectOneEnd(run);
  });

  test.each(CODES)('whose final files are refused with %s has ended all the same, once', async (code) => {
    const { run, goOn } = await atWork();
    await files.refuse({ code, path: 'status\\.json|active/|lease' });
    await goOn();
    expect(await run.end()).toMatchObject({ state: 'complete', error: null });
    expect(await run.text()).toBe('the end');
    await expectOneEnd(run);
  });

  test('that cannot keep a message tells the sender, and works on', async () => {
    const { run, goOn } = await atWork();
    await files.refuse({ code: 'EACCES', path: 'control' });
    await expect(steerRun(run.toolbox(), run.directory, owner, 'hear me')).rejects.toThrow('EACCES');
    await goOn();
    expect(await run.end()).toMatchObject({ state: 'complete', error: null });
    await expectOneEnd(run);
  });
});

test.each(['transcript', 'stderr'])(
  'a run whose %s is refused from the start does its work without it',
  async (path) => {
    await files.refuse({ code: 'EACCES', path });
    const run = await TestRun.start(world, fakeTask({ steps: [{ say: 'the end' }] }));
    expect(await run.end()).toMatchObject({ state: 'complete', error: null });
    expect(await run.text()).toBe('the end');
    await expectOneEnd(run);
  },
);

describe('a launch', () => {
  test.each(['projects/', 'starting/', 'runs/', 'lease', 'active/', 'journal', 'runtime/'])(
    'for which %s is refused names the path, and leaves nothing',
    async (path) => {
      await using own = await createWorld({ piPath: fake.folder, git: false, node: files.node });
      await files.refuse({ code: 'EACCES', path });
      const args = ['run', '--agent', 'worker', '--task', 'hello', '--json'];
      const answer = await promisify(execFile)(files.node, [join(own.dist, 'cli.mjs'), ...args], {
        cwd: own.project,
        env: own.env,
      }).catch((error: { code: number; stdout: string; stderr: string }) => error);
      await files.refuse();
      expect(answer).toMatchObject({ code: 2 });
      expect(JSON.parse(answer.stdout)).toMatchObject({
        error: { code: 'store_unwritable', message: expect.stringContaining('EACCES'), hint: expect.any(String) },
      });
      const stores = await allStores(own.toolbox.root);
      const left = stores.map((store) => readdir(join(store.directoryOf(newRunId()), '..')).catch(() => []));
      expect((await Promise.all(left)).flat()).toEqual([]);
    },
  );
});

/** `pi-lanes lanes …` and `pi-lanes worktrees …` as they are typed: what is wrong is told by option, value, rule and next step. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ELIGIBILITY } from '../../src/protocol/index.ts';
import { TestRun } from '../support/control-matrix-runs.ts';
import { fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, type FakeWorld, fakeWorld } from '../support/fake-world.ts';
import { makeRepository } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';

const HASH = 'a'.repeat(40);
const MERGE = ['--pr', '7', '--reviewed-head', HASH, '--merge-commit', HASH, '--by', 'me'];

const stack = new AsyncDisposableStack();
let fakes: FakeWorld;
let repository: string;
let run: TestRun;

beforeAll(async () => {
  fakes = await fakeWorld(stack);
  repository = await makeRepository(join(await realpath(stack.use(await tempDir()).path), 'repository'));
  const task = fakeTask({ steps: [{ write: 'made.txt' }, { say: 'done' }] });
  run = await TestRun.start(fakes.world, task, { cwd: repository, worktree: true });
  expect((await run.end()).state).toBe('complete');
});
afterAll(() => expectNobodyLeft(stack, fakes));

const cli = (...args: string[]) => fakes.world.cli(args, { cwd: repository });

/** Its two lines: what is wrong, and what to do. */
async function refusal(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await cli(...args);
  expect([code, stdout]).toEqual([2, '']);
  // Words of the schema library, and names that nobody has typed.
  expect(stderr).not.toMatch(/invalid|expected|received|undefined|prNumber|attested|Zod/i);
  return stderr.trimEnd().split('\n');
}

const HELP = '  See `pi-lanes lanes --help`.';

describe('what is wrong with the words is told', () => {
  test.for<[string[], string, string]>([
    [['lanes'], 'What to do, or the run, is missing.', HELP],
    [['lanes', 'status'], 'What to do, or the run, is missing.', HELP],
    [
      ['lanes', 'merge', 'last'],
      'There is no "lanes merge".',
      '  It must be one of status, record-merge, record-supersession, conflicts.',
    ],
    [['lanes', 'status', 'last', '--pr', '7'], '--pr does not go with "lanes status".', HELP],
    [
      ['lanes', 'record-supersession', 'last', '--checks', 'recorded'],
      '--checks does not go with "lanes record-supersession".',
      HELP,
    ],
    [
      ['lanes', 'record-merge', 'last'],
      '"lanes record-merge" needs --pr, --reviewed-head, --merge-commit, --by.',
      HELP,
    ],
    [
      ['lanes', 'record-merge', 'last', '--pr', '7', '--by', 'me', '--reviewed-head', HASH],
      '"lanes record-merge" needs --merge-commit.',
      HELP,
    ],
    [['lanes', 'record-supersession', 'last'], '"lanes record-supersession" needs --superseded-by, --by.', HELP],
    [
      ['lanes', 'status', 'last', 'more'],
      '"more" is one word too many.',
      '  Quote a text with spaces; see `pi-lanes help`.',
    ],
    [['worktrees', 'more'], '"more" is one word too many.', '  Quote a text with spaces; see `pi-lanes help`.'],
    [['worktrees', '--al'], 'There is no option "--al".', '  See `pi-lanes help`.'],
  ])('%j', async ([args, message, hint]) => {
    expect(await refusal(...args)).toEqual([`pi-lanes: ${message}`, hint]);
  });

  const choice = (all: string) => `  It must be one of ${all}.`;
  test.for<[option: string, value: string, hint: string]>([
    ['--pr', 'seven', '  It must be the number of the pull request, a whole number from 1.'],
    ['--pr', '0', '  It must be the number of the pull request, a whole number from 1.'],
    ['--pr', '1e3', '  It must be the number of the pull request, a whole number from 1.'],
    ['--reviewed-head', 'abc123', '  It must be the full hash of a commit; `git rev-parse NAME` prints it.'],
    ['--merge-commit', 'main', '  It must be the full hash of a commit; `git rev-parse NAME` prints it.'],
    ['--tree-equivalent', 'yes', choice('true, false, unknown')],
    ['--checks', 'green', choice('recorded, unknown')],
    ['--by', '', '  It must be one line of 1 to 128 bytes.'],
    ['--at', 'yesterday', '  It must be a date and a time, as 2026-01-31T12:00:00Z.'],
  ])('%s %s', async ([option, value, hint]) => {
    const at = MERGE.indexOf(option);
    const args = at === -1 ? [...MERGE, option, value] : MERGE.toSpliced(at + 1, 1, value);
    expect(await refusal('lanes', 'record-merge', run.runId, ...args)).toEqual([
      `pi-lanes: ${option} is "${value}".`,
      hint,
    ]);
    const { stdout } = await cli('lanes', 'status', run.runId, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ evidence: null });
  });

  test('also to programs, with a code', async () => {
    const { code, stdout } = await cli('lanes', 'record-merge', run.runId, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'launch_invalid', message: expect.stringContaining('--pr, --reviewed-head') },
    });
  });

  test('and a run that there is not, and one without worktrees, are told as that', async () => {
    expect((await cli('lanes', 'status', '019a0000-0000-7000-8000-000000000001')).stderr).toMatch(
      /There is no run.*\n {2}\S/,
    );
    const plain = await TestRun.start(fakes.world, fakeTask({ steps: [{ say: 'done' }] }), { cwd: repository });
    await plain.end();
    const { stdout } = await cli('lanes', 'status', plain.runId);
    expect(stdout).toContain(`Lanes of ${plain.runId}: unknown (it has handed over no worktrees)`);
    expect((await cli('lanes', 'record-merge', plain.runId, ...MERGE)).stderr).toContain('no worktree to hand over');
  });
});

test('every state that is printed is explained by the help', async () => {
  const { code, stdout } = await cli('lanes', '--help');
  expect(code).toBe(0);
  for (const state of ELIGIBILITY) expect(stdout).toMatch(new RegExp(`^ +${state} +\\S+ \\S+`, 'm'));
});

test('what was attested is shown in whole words, changes nothing when it is said again, and makes the lane eligible', async () => {
  const merge = ['lanes', 'record-merge', run.runId, ...MERGE, '--at', '2026-01-31T12:00:00Z'];
  const blocked = await cli(...merge);
  expect(blocked.stdout).toMatch(/^Recorded\.\n.*: terminal-blocked \(it is not attested that the merged files/);
  expect((await cli(...merge)).stdout).toMatch(/^Exactly this was recorded already\.\n/);
  const other = await cli(...merge, '--checks', 'recorded');
  expect(other.code).not.toBe(0);
  expect(other.stderr).toMatch(/Other evidence is recorded.*\n {2}See `pi-lanes lanes status/);
  const superseded = await cli('lanes', 'record-supersession', run.runId, '--superseded-by', 'another', '--by', 'me');
  expect(superseded.stdout).toContain(': superseded-eligible\n');
});

/** What is told about a run that is cut off only for a moment. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunSnapshot } from '../../../src/client/index.ts';
import { Notices } from '../../../src/extension/notices.ts';
import { RunsInHand } from '../../../src/extension/runs/runs-in-hand.ts';
import type { RunsModel } from '../../../src/extension/runs/runs-model.ts';
import type { Services } from '../../../src/extension/services.ts';
import { describeError, type JournalEvent, type RunView } from '../../../src/protocol/index.ts';
import { oneOfEach } from '../builders/events.ts';
import { aSnapshot, aWorkflowIn } from './snapshots.ts';
import * as editor from './vscode-stand-in.ts';
import { asks, asksToRun, aWorkflowSnapshot, begun } from './workflows.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const changed = new editor.EventEmitter<string | undefined>();
let run: RunSnapshot;
let inHand: RunsInHand;
let notices: Notices;

beforeEach(() => {
  vi.useFakeTimers();
  editor.messages.length = 0;
  inHand = new RunsInHand();
  run = aSnapshot('running', { task: 'Mend the fence.' });
  const runs = {
    onDidChange: changed.event,
    get: (runId: string) => (runId === run.runId ? run : undefined),
    all: () => [{ snapshot: run, project: 'one' }],
  };
  const services = { inHand, state: new editor.Memento() };
  notices = new Notices(services as unknown as Services, runs as unknown as RunsModel);
});
afterEach(() => {
  notices.dispose();
  vi.useRealTimers();
});

function becomes(state: RunSnapshot['state']): void {
  run = { ...run, state };
  changed.fire(run.runId);
}
const lasts = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const TOLD = ['"Mend the fence." was cut off: its runner is gone.'];

describe('that a run was cut off', () => {
  it('is told once, when it lasts', async () => {
    becomes('lost');
    expect(editor.messages).toEqual([]);
    await lasts(1000);
    becomes('lost');
    await lasts(1000);
    expect(editor.messages).toEqual(TOLD);
    becomes('lost');
    await lasts(10_000);
    expect(editor.messages).toEqual(TOLD);
  });

  it('is not told of a run that passes through it, as with Force Stop from another window', async () => {
    becomes('lost');
    await lasts(500);
    becomes('stopped');
    await lasts(10_000);
    expect(editor.messages).toEqual([]);
  });

  it('is not told while this window ends the run, however long that takes', async () => {
    const ending = Promise.withResolvers<void>();
    const done = inHand.during(run.runId, () => ending.promise);
    becomes('unresponsive');
    becomes('lost');
    await lasts(60_000);
    expect(editor.messages).toEqual([]);
    run = { ...run, state: 'stopped' };
    ending.resolve();
    await done;
    await lasts(10_000);
    expect(editor.messages).toEqual([]);
  });

  it('is told when this window could not end it', async () => {
    const failing = inHand.during(run.runId, async () => {
      becomes('lost');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await lasts(2000);
    expect(editor.messages).toEqual(TOLD);
  });
});

describe('the questions of a workflow', () => {
  it('are told each once, with who asks, and which command it is', async () => {
    const events = [...begun(1, 'north.draft'), ...begun(2, 'b'), asks(1, 'q1')];
    const happens = (...more: JournalEvent[]) => {
      run = aWorkflowSnapshot([...events, ...more], { runId: run.runId });
      changed.fire(run.runId);
    };
    happens();
    expect(editor.messages).toEqual(['"harbour · north.draft" asks: Which? Pick a gate.']);
    happens(asksToRun(5, 'ci', 'npm test'), asks(2, 'q2'));
    expect(editor.messages.slice(1)).toEqual([
      '"harbour" asks whether "ci" may run a command: npm test',
      '"harbour · b" asks: Which? Pick a gate.',
    ]);
    happens(asksToRun(5, 'ci', 'npm test'), asks(2, 'q2'));
    expect(editor.messages).toHaveLength(3);
  });

  it('are not all that is told: a child that is silent is named', () => {
    run = aWorkflowSnapshot([...begun(1, 'a'), ...begun(2, 'b'), { ...oneOfEach['attention.raised'], child: 2 }], {
      runId: run.runId,
    });
    changed.fire(run.runId);
    expect(editor.messages).toEqual(['"harbour · b" may need you: it has been silent for long.']);
  });
});

describe('that a workflow has ended', () => {
  const endsAs = (state: RunView['state'], failure: { kind: string; message: string } | null = null) => {
    const error = failure && describeError('workflow_failed', { reason: failure.message });
    run = { ...aWorkflowIn(state, { endedAt: Date.now() }, { failure }), error };
    changed.fire(run.runId);
    changed.fire(run.runId);
  };

  it.each([
    ['complete', null, ['"harbour" is complete.']],
    ['failed', { kind: 'script', message: 'No luck' }, ['"harbour" failed: No luck']],
    ['partial', { kind: 'timeout', message: 'Too late' }, ['"harbour" ended before it was done: Too late']],
    ['stopped', null, []],
  ] as const)('%s is told once', (state, failure, told) => {
    endsAs(state, failure);
    expect(editor.messages).toEqual(told);
  });

  it('is told anew when it was continued', () => {
    endsAs('partial', { kind: 'timeout', message: 'Too late' });
    run = aWorkflowIn('complete', { runId: run.runId, endedAt: Date.now(), epoch: 2 });
    changed.fire(run.runId);
    expect(editor.messages.at(-1)).toBe('"harbour" is complete.');
  });

  it('is not told of one that ended before this window was opened', () => {
    run = aWorkflowIn('complete', { endedAt: Date.now() - 60_000 });
    changed.fire(run.runId);
    expect(editor.messages).toEqual([]);
  });
});

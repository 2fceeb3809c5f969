/** Which workflows go on as the same run, and within which limits. */
import { afterAll, describe, expect, it } from 'vitest';
import { type NewBounds, planContinue } from '../../src/client/index.ts';
import type { JournalEvent, WorkflowBounds, WorkflowLimits } from '../../src/protocol/index.ts';
import { tempDir } from '../support/temp.ts';
import { CONTINUES, type ContinueRow, SITUATIONS } from '../support/workflow-control.ts';
import { oneOfEach } from './builders/events.ts';
import { ended, goneIdentity, me, type RunOptions, writeRun } from './builders/run.ts';
import { aWorkflow } from './builders/workflow.ts';

const folders = new AsyncDisposableStack();
afterAll(() => folders.disposeAsync());

const LIMITS: Partial<WorkflowLimits> = { usageBudget: { tokens: { soft: 50, hard: 100 } } };
const HOUR = 3_600_000;
const started = [oneOfEach['runner.started'], oneOfEach['run.proceeded'], oneOfEach['workflow.stepped']];

function over(
  state: 'failed' | 'partial' | 'complete' | 'stopped',
  kind: string | null,
  partial: 'timeout' | 'budget_exhausted' | null = null,
): JournalEvent[] {
  const failure = kind === null ? null : { kind, message: 'It is at its end.' };
  return [...started, { ...oneOfEach['workflow.ended'], state, failure, partial }, ended(state)];
}

/** How a workflow comes into each situation. */
const MADE: Record<ContinueRow['id'], () => Promise<RunOptions> | RunOptions> = {
  lost: () => ({ events: started, lease: goneIdentity() }),
  alive: async () => ({ events: started, lease: await me() }),
  children: () => ({ events: over('failed', 'limit') }),
  budget: () => ({ events: over('partial', 'script', 'budget_exhausted') }),
  time: () => ({ events: over('partial', 'timeout', 'timeout'), record: aWorkflow({ limits: LIMITS }, 1) }),
  runners: () => ({
    events: [
      ...started,
      { type: 'run.ended', state: 'failed', error: { code: 'recovery_failed', message: 'Its runners died.' } },
    ],
  }),
  // Before, a budget had ended it; that holds no more.
  file: () => ({
    events: [
      ...over('partial', 'script', 'budget_exhausted'),
      { ...oneOfEach['run.continued'], limits: { ...oneOfEach['run.continued'].limits, ...LIMITS } },
      { type: 'run.ended', state: 'failed', error: { code: 'run_unreadable', message: 'A file is missing.' } },
    ],
  }),
  engine: () => ({ events: over('failed', 'engine') }),
  script: () => ({ events: over('failed', 'script') }),
  complete: () => ({ events: over('complete', null) }),
  stopped: () => ({ events: over('stopped', null) }),
};

async function plan(options: RunOptions, bounds: NewBounds = {}): Promise<WorkflowBounds | undefined> {
  const folder = folders.use(await tempDir());
  const { directory } = await writeRun(folder.path, { record: aWorkflow({ limits: LIMITS }), ...options });
  return planContinue(directory, bounds);
}

const RAISED: NewBounds = { maxSubagentSpawnsPerRun: 65, usageBudget: { tokens: { hard: 200 } }, timeoutMs: HOUR };

describe('a workflow', () => {
  it('has a row for each situation', () => {
    expect(CONTINUES.map(({ id }) => id)).toEqual(Object.keys(SITUATIONS));
  });

  it.each(CONTINUES)('$id: with the same limits $kept, with higher ones $raised', async ({ id, kept, raised }) => {
    for (const [outcome, bounds] of [
      [kept, {}],
      [raised, RAISED],
    ] as const) {
      const planned = plan(await MADE[id](), bounds);
      if (outcome === 'resume_refused') await expect(planned).rejects.toMatchObject({ code: outcome });
      else await expect(planned).resolves.toSatisfy((given) => id === 'lost' || given !== undefined);
    }
  });

  it('keeps each limit that is not named', async () => {
    const { children } = MADE;
    expect(await plan(await children(), { maxSubagentSpawnsPerRun: 70 })).toEqual({
      limits: { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 70, ...LIMITS },
      timeoutMs: null,
    });
    expect(await plan(await children(), { usageBudget: { tokens: { hard: 300 } } })).toMatchObject({
      limits: { usageBudget: { tokens: { soft: 50, hard: 300 } } },
    });
    const none = await plan(await children(), { usageBudget: { tokens: null } });
    expect(none?.limits).toEqual({ globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 64 });
  });

  it('goes on from the limits it was continued with last', async () => {
    const events = [
      ...over('failed', 'limit'),
      { ...oneOfEach['run.continued'], timeoutMs: HOUR },
      ...over('failed', 'limit'),
    ];
    expect(await plan({ events }, { maxSubagentSpawnsPerRun: 65 })).toEqual({
      limits: { globalConcurrencyLimit: 20, maxSubagentSpawnsPerRun: 65 },
      timeoutMs: HOUR,
    });
  });

  it.each<[NewBounds, string]>([
    [{ maxSubagentSpawnsPerRun: 63 }, 'maxSubagentSpawnsPerRun would be 63; it is 64.'],
    [{ usageBudget: { tokens: { hard: 99 } } }, 'usageBudget.tokens would be 99; it is 100.'],
    [{ usageBudget: { costUsd: { hard: 5 } } }, 'usageBudget.costUsd would be 5; it is no limit.'],
  ])('is not continued with less: %j', async (bounds, message) => {
    await expect(plan(await MADE.engine(), bounds)).rejects.toMatchObject({ code: 'resume_refused', message });
    await expect(plan(await MADE.lost(), bounds)).rejects.toMatchObject({ message });
  });

  it('may do less at the same time', async () => {
    expect(await plan(await MADE.engine(), { globalConcurrencyLimit: 1 })).toMatchObject({
      limits: { globalConcurrencyLimit: 1 },
    });
  });
});

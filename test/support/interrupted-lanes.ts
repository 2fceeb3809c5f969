/** A workflow of lanes whose runner dies where it is told to, and is continued until its end. */
import { expect } from 'vitest';
import { answerQuestion } from '../../src/client/index.ts';
import { type JournalLine, LanesError } from '../../src/protocol/index.ts';
import { owner } from './control-matrix-runs.ts';
import { faultAt, isCommandCutOff, isNotBegun, type Place } from './fault-places.ts';
import { type Asked, type Death, deathOf, expectSameEnd, type LaneEnd, type LaneWorkflow } from './lane-workflow.ts';
import { waitFor } from './wait-for.ts';
import { TestWorkflow } from './workflow-runs.ts';
import type { World } from './world.ts';

export interface Interrupted {
  lanes: LaneWorkflow;
  /** The end of a run that nobody disturbed. */
  expected: LaneEnd;
  /** How often the model of this run was asked for something. */
  asked: (run: TestWorkflow) => Asked;
  /** The journal of a run that nobody disturbed. */
  journal: readonly JournalLine[];
  random: () => number;
  /** Milliseconds the run may take from one death, or its start, to the next, or its end. */
  withinMs?: number;
}

/** Kills the runner at the place, continues the run, and proves that it comes to the same end with nothing done twice. */
export async function dieAndContinue(
  world: World,
  place: Place,
  { lanes, expected, asked: askedOf, journal, random, withinMs }: Interrupted,
): Promise<void> {
  const fault = faultAt(place, journal, random);
  const { takenOverFrom, asks } = place;
  const run = await TestWorkflow.plan(world, lanes.script, { host: { mode: asks ? 'ask' : 'allow', globs: [] } });
  const asked = askedOf(run);
  const deaths: Death[] = [];
  const over = new AbortController();
  // Whose question nobody answers, dies with it open.
  let allowing = asks && !takenOverFrom ? allow(run, over.signal) : undefined;
  try {
    const wasStarted = await refusedAtMost(run.start(takenOverFrom ?? fault));
    await run.runnerGone(withinMs);
    deaths.push(await deathOf(run, lanes, asked));
    if (takenOverFrom) {
      await refusedAtMost(run.recover('continue', fault));
      await run.runnerGone(withinMs);
      deaths.push(await deathOf(run, lanes, asked));
    }
    const isEnd = place.type === 'run.ended' && place.when === 'after';
    expect((await run.snapshot()).state, `${fault} was met`).toBe(isEnd ? 'complete' : 'lost');
    await run.recover();
    if (isNotBegun(place, fault)) {
      expect(wasStarted).toBe(false);
      const { state, error } = await run.end(withinMs);
      expect([state, error?.code]).toEqual(['failed', 'start_not_confirmed']);
      expect(await run.all('workflow.stepped')).toEqual([]);
      return;
    }
    if (asks) allowing ??= allow(run, over.signal);
    await run.end(withinMs);
    await expectSameEnd(run, lanes, { expected, deaths, asked, isCutOff: isCommandCutOff(fault) });
  } catch (error) {
    throw new Error(`after a death at ${[takenOverFrom, fault].filter(Boolean).join(' and ')}`, { cause: error });
  } finally {
    over.abort();
    await allowing;
  }
}

/** What a client is told while a runner dies is a clear error, or nothing. Whether it was nothing. */
export async function refusedAtMost(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(LanesError);
    if (error instanceof LanesError) expect(['runner_died', 'runner_unreachable']).toContain(error.code);
    return false;
  }
}

/** Allows the command whenever somebody is asked, until the run is over. */
async function allow(run: TestWorkflow, over: AbortSignal): Promise<void> {
  const look = async () => {
    if (over.aborted) return true;
    const { state, view } = await run.snapshot().catch(() => ({ state: 'queued', view: undefined }));
    const open = state === 'waiting' ? view?.questions[0]?.id : undefined;
    // The runner may die of it, or before it.
    if (open)
      await answerQuestion(run.toolbox(), run.directory, owner, open, { confirmed: true }).catch(() => undefined);
    return false;
  };
  await waitFor('the end of the run', look, { timeoutMs: 120_000, everyMs: 50 });
}

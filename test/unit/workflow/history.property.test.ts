import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../src/core/workflow/engine/record.ts';
import type { Effect, HistoryEntry } from '../../../src/core/workflow/index.ts';
import { cutAt, following, keep, performedTwice, saidOver } from './durable.ts';
import { behaviours, scripts } from './random-scripts.ts';

/** Everything answers at random, after a random while. */
function randomHost(numbers: readonly number[]) {
  let used = 0;
  const next = () => numbers[used++ % numbers.length] ?? 0;
  return async (effect: Effect) => {
    await new Promise((resolve) => setTimeout(resolve, next() % 4));
    const key = keyOf(effect);
    const how = next() % 6;
    switch (effect.type) {
      case 'launch':
        if (how === 0) throw new Error('no agent');
        if (how === 1)
          return { ok: true, value: { key, ok: false, output: 'said', error: 'failed', artifactPaths: [] } };
        if (how === 2)
          return { ok: true, value: { key, ok: false, stopped: true, output: 'so far', runId: `r-${key}` } };
        return {
          ok: true,
          value: {
            key,
            ok: true,
            output: `${key} ${next()}`,
            runId: `r-${key}-${next()}`,
            usage: { input: next(), output: 1 },
          },
        };
      case 'steer':
        return { ok: true, value: { state: ['delivered', 'queued', 'missed'][next() % 3] } };
      case 'host':
        return { ok: true, value: { ok: how < 3, exitCode: 0, stdout: String(next()), stderr: '' } };
      case 'status':
        return { ok: true, value: { ok: how < 3, output: String(next()) } };
      case 'state.get':
        return { ok: true, value: { v: next() } };
      case 'state.set':
        return { ok: true };
    }
  };
}

/** Steps of which the entries tell the end, and whether the last one has none. */
function lastStepped(entries: readonly HistoryEntry[]): number {
  return entries.reduce((last, entry) => (entry.type === 'stepped' ? entry.step : Math.min(last, entry.step - 1)), 0);
}

const budgets = fc.option(
  fc.integer({ min: 50, max: 300 }).map((hard) => ({ usageBudget: { tokens: { hard } } })),
  { nil: {} },
);

describe('going on after a death', () => {
  it('random scripts, cut anywhere, end as if nothing had happened', async () => {
    await fc.assert(
      fc.asyncProperty(
        scripts,
        behaviours,
        fc.nat(2 ** 32),
        fc.integer({ min: 1, max: 4 }),
        budgets,
        fc.array(fc.nat(999), { minLength: 4, maxLength: 4 }),
        async (script, numbers, seed, globalConcurrencyLimit, budget, cuts) => {
          const limits = { globalConcurrencyLimit, maxSubagentSpawnsPerRun: 12, ...budget };
          const whole = await keep({ script, seed, limits, perform: randomHost(numbers) });
          for (const cut of cuts) {
            const history = cutAt(whole, whole.entries, cut % (whole.entries.length + 1));
            const told = whole.stepped.slice(0, history.filter(({ type }) => type === 'stepped').length);
            const rest = await keep({
              script,
              seed,
              limits,
              history,
              ...following(whole.record, lastStepped(history)),
            });
            expect(rest.result).toEqual(whole.result);
            expect(performedTwice(history, rest.performed)).toEqual([]);
            expect(saidOver(told, rest.stepped)).toEqual(saidOver(whole.stepped));
            const both = [...history, ...rest.entries];
            const later = cutAt(whole, both, (cut + history.length) % (both.length + 1));
            const again = await keep({
              script,
              seed,
              limits,
              history: later,
              ...following(whole.record, lastStepped(later)),
            });
            expect(again.result).toEqual(whole.result);
          }
        },
      ),
      { numRuns: 8, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: false },
    );
  }, 240_000);

  it('every cut of one script with everything in it', async () => {
    const script = `
      emit(Date.now());
      const kept = runs.run('a', {agent: 'w', task: 'a'}).catch(() => 'lost');
      await runs.steer('a', 'hurry');
      console.log(await runs.host('check', {kind: 'command', command: 'c', timeoutMs: 5}).catch((e) => e.message));
      const rows = await runs.lanes([{key: 'n', stages: [{key: 's', agent: 'w', task: 't'}, {key: 't', resume: 'previous', task: 'u'}]}]);
      emit(rows);
      await state.set('x', Math.random());
      emit([await kept, await runs.status('a').catch(() => 'none')]);
      state.set('y', 1);
      return [Date.now(), await runs.all(['p', 'q', 'r'].map((key) => ({key, agent: 'w', task: 't'})))]`;
    const limits = { globalConcurrencyLimit: 2 };
    const whole = await keep({ script, limits, perform: randomHost([3, 10, 5, 8, 21, 9]) });
    for (let cut = 0; cut <= whole.entries.length; cut++) {
      const history = cutAt(whole, whole.entries, cut);
      const rest = await keep({ script, limits, history, ...following(whole.record, lastStepped(history)) });
      expect(rest.result).toEqual(whole.result);
      expect(performedTwice(history, rest.performed)).toEqual([]);
    }
  }, 60_000);

  it('random scripts that limits held up go on when the limits are raised, and can be cut there too', async () => {
    await fc.assert(
      fc.asyncProperty(
        scripts,
        behaviours,
        fc.nat(2 ** 32),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 5 }),
        budgets,
        fc.array(fc.nat(999), { minLength: 3, maxLength: 3 }),
        async (script, numbers, seed, globalConcurrencyLimit, maxSubagentSpawnsPerRun, budget, cuts) => {
          const low = { globalConcurrencyLimit, maxSubagentSpawnsPerRun, ...budget };
          const first = await keep({ script, seed, limits: low, perform: randomHost(numbers) });
          const limits = { globalConcurrencyLimit: globalConcurrencyLimit + 1, maxSubagentSpawnsPerRun: 40 };
          const second = await keep({
            script,
            seed,
            limits,
            history: first.entries,
            perform: randomHost([...numbers, 4]),
          });
          expect(second.result.error?.kind).not.toBe('diverged');
          expect(second.result.trace.filter(({ error = '' }) => /were requested|exhausted/.test(error))).toEqual([]);
          expect(performedTwice(first.entries, second.performed)).toEqual([]);
          expect(saidOver(first.stepped, second.stepped).emits.map((text) => JSON.parse(text))).toEqual(
            second.result.emits,
          );
          const all = [...first.entries, ...second.entries];
          for (const cut of cuts) {
            const history = cutAt(second, all, first.entries.length + (cut % (second.entries.length + 1)));
            const third = await keep({
              script,
              seed,
              limits,
              history,
              ...following(second.record, lastStepped(history)),
            });
            expect(third.result).toEqual(second.result);
            expect(performedTwice(history, third.performed)).toEqual([]);
          }
        },
      ),
      { numRuns: 8, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: false },
    );
  }, 240_000);
});

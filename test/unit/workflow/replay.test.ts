import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { behaviours, scripts } from './random-scripts.ts';
import { type Launched, P, play, replay } from './workflow.ts';

describe('replay', () => {
  it('random scripts over random deliveries: the replay is equal', async () => {
    await fc.assert(
      fc.asyncProperty(
        scripts,
        behaviours,
        fc.nat(2 ** 32),
        fc.integer({ min: 1, max: 4 }),
        async (script, numbers, seed, limit) => {
          let used = 0;
          const next = () => numbers[used++ % numbers.length] ?? 0;
          const later = <Value>(value: () => Value): Promise<Value> =>
            new Promise((resolve, reject) => {
              setTimeout(() => {
                try {
                  resolve(value());
                } catch (error) {
                  reject(error);
                }
              }, next() % 4);
            });
          const stored = new Map<string, unknown>();
          const {
            record,
            launched: _launched,
            keys: _keys,
            ...execution
          } = await play(script, {
            seed,
            globalConcurrencyLimit: limit,
            maxSubagentSpawnsPerRun: 12,
            children: {},
            onLaunch: () => {},
            state: {
              get: (key) => later(() => stored.get(key)),
              set: (key, value) => later(() => void stored.set(key, value)),
            },
            host: {
              launch: ({ key }) =>
                later(() => {
                  const how = next() % 6;
                  if (how === 0) throw new Error('no agent');
                  if (how === 1) return { ok: false, output: 'said', error: 'failed' };
                  if (how === 2) return { stopped: true, output: 'so far', runId: `r-${key}` };
                  return {
                    ok: true,
                    output: `${key} ${next()}`,
                    runId: `r-${key}-${next()}`,
                    usage: { input: next(), output: 1 },
                  };
                }),
              steer: () =>
                later(() => ({ state: (['delivered', 'queued', 'missed'] as const)[next() % 3] ?? 'failed' })),
              hostCommand: () =>
                later(() => ({
                  ok: next() % 2 === 0,
                  state: 'passed',
                  exitCode: 0,
                  stdout: String(next()),
                  stderr: '',
                })),
              status: () => later(() => ({ ok: next() % 2 === 0, output: String(next()) })),
            },
          });
          expect(await replay(record)).toEqual(execution);
        },
      ),
      { numRuns: 25, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
    );
  }, 180_000);

  it('a stop and a deadline in the middle are repeated exactly', async () => {
    const controller = new AbortController();
    const script = `emit(1); await runs.run('a', ${P}); console.log('x'); await runs.all(['b', 'c'].map((key) => ({key, ...${P}})))`;
    const execution = await play(script, {
      signal: controller.signal,
      children: { b: 'open', c: 'open' },
      onLaunch: (call: Launched) => {
        if (call.key === 'c') controller.abort(new Error('by hand'));
      },
    });
    const { record, launched: _l, keys: _k, ...rest } = execution;
    expect(rest.ok).toBe(false);
    expect(await replay(record)).toEqual(rest);
    const timed = await play(`${script}`, { timeoutMs: 500, children: { b: 'open' } });
    const { record: second, launched: _l2, keys: _k2, ...again } = timed;
    expect(again.error?.kind).toBe('timeout');
    expect(await replay(second)).toEqual(again);
  });

  it('a script whose worker had to be ended is repeated up to there', async () => {
    const {
      record,
      launched: _l,
      keys: _k,
      ...rest
    } = await play(
      `emit(1); await runs.run('a', ${P}); emit('lost'); const t = 'a'.repeat(3e7), n = 'a'.repeat(1e6) + 'b'; for (;;) t.indexOf(n)`,
      { timeoutMs: 500 },
    );
    expect(rest.error?.kind).toBe('timeout');
    expect(rest.emits[0]).toBe(1);
    expect(await replay(record)).toEqual(rest);
  });

  it('a record that the script contradicts ends as diverged, naming key and call', async () => {
    const { record } = await play(`await runs.run('first', ${P}); return 1`);
    const changed = { ...(record as Record<string, unknown>), script: `await runs.run('second', ${P}); return 1` };
    expect((await replay(changed)).error).toMatchObject({
      kind: 'diverged',
      message: expect.stringMatching(/'first'.*'second'/),
    });
    const other = {
      ...(record as Record<string, unknown>),
      script: `await runs.run('first', {agent: 'w', task: 'other'}); return 1`,
    };
    expect((await replay(other)).error).toMatchObject({
      kind: 'diverged',
      message: expect.stringMatching(/'first'.*fingerprint [0-9a-f]{16} now, [0-9a-f]{16} then/),
    });
    const shorter = { ...(record as Record<string, unknown>), script: 'return 1' };
    expect((await replay(shorter)).error?.kind).toBe('diverged');
  });

  it('what is no record is refused', async () => {
    await expect(replay({})).rejects.toThrow(/record/);
  });

  it('refusals of the language are repeated too', async () => {
    const { record, launched: _l, keys: _k, ...rest } = await play('const = 1');
    expect(await replay(record)).toEqual(rest);
  });
});

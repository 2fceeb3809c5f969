import { describe, expect, it } from 'vitest';
import prelude from '../../../src/core/workflow/engine/prelude/main.ts?vm';
import { quickJsEngine } from '../../../src/core/workflow/engine/quickjs.ts';
import { Session } from '../../../src/core/workflow/engine/session.ts';
import { engineModule } from './bare-realm.ts';
import { P, play } from './workflow.ts';

async function session(script: string, stepFuel: number) {
  const openRealm = quickJsEngine(await engineModule());
  const heapBytes = 32 * 1024 * 1024;
  return Session.open({
    script,
    state: false,
    seed: 1,
    heapBytes,
    prelude,
    openRealm,
    stepFuel,
    mustEnd: () => undefined,
  });
}

describe('limits', () => {
  it('a step that computes without end is ended by its fuel, at the same place each time', async () => {
    const ends = [];
    for (let time = 0; time < 2; time++) {
      const running = await session(`let n = 0; for (;;) if (++n % 50000 === 0) emit(n)`, 100);
      const { broken, calls, fuel } = running.step({ at: 0, deliveries: [] });
      ends.push({ broken, calls: calls.length, fuel });
      running.dispose();
    }
    expect(ends[0]).toMatchObject({ broken: { reason: 'fuel', polls: 101 } });
    expect(ends[0]?.calls).toBeGreaterThan(0);
    expect(ends[1]).toEqual(ends[0]);
  });

  it('the fuel is that of one step', async () => {
    const running = await session(
      `for (let i = 0; i < 3; i++) { let n = 0; while (n < 3e5) n++; await runs.run('k' + i, ${P}) } return 1`,
      300,
    );
    let output = running.step({ at: 0, deliveries: [] });
    let all = output.fuel;
    for (let id = 1; id <= 3; id++) {
      expect(output.broken).toBeUndefined();
      const view = { key: `k${id - 1}`, ok: true, output: '', artifactPaths: [] };
      output = running.step({ at: id, deliveries: [{ id, answer: { type: 'child', view } }] });
      all += output.fuel;
    }
    expect(output.end).toMatchObject({ type: 'returned', value: '1' });
    expect(all).toBeGreaterThan(output.fuel);
    running.dispose();
  });

  it('calls that wait at the same time, and calls altogether, have limits that are named', async () => {
    const host = { status: () => new Promise<never>(() => {}) };
    const waiting = await play(`for (let i = 0; i < 6000; i++) runs.status('x' + i)`, { host });
    expect(waiting.error).toMatchObject({ kind: 'limit', message: expect.stringContaining('5000') });
    const all = await play(`await runs.run('a', ${P}); for (let i = 0; ; i++) runs.run('a', ${P})`);
    expect(all.error).toMatchObject({ kind: 'limit', message: expect.stringContaining('20000') });
    expect(all.keys).toEqual(['a']);
  });

  it('fuel and heap are told', async () => {
    const { engine } = await play(`let n = 0; while (n < 1e6) n++; await runs.run('a', ${P}); return n`);
    expect(engine.steps).toBe(2);
    expect(engine.fuel).toBeGreaterThan(10);
    expect(engine.heapBytes).toBeGreaterThan(100_000);
  });
});

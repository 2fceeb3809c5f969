/** Time counts only while the process was there to live it. */
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { AliveClock } from '../../src/core/time/index.ts';
import { waitFor } from '../support/wait-for.ts';

const clocks: AliveClock[] = [];
afterEach(() => {
  for (const clock of clocks.splice(0)) clock.dispose();
});

/** A clock whose time is set by hand. */
function handClock(before?: number) {
  let time = 5_000_000;
  const clock = new AliveClock({ now: () => time, ...(before === undefined ? {} : { before }) });
  clocks.push(clock);
  return {
    clock,
    /** Time passes and nobody looks. */
    jump: (ms: number) => {
      time += ms;
    },
    /** Time passes with a look every second, as in a process that runs. */
    live: (ms: number) => {
      for (let left = ms; left > 0; left -= 1000) {
        time += Math.min(left, 1000);
        clock.tick();
      }
    },
  };
}

describe('what is counted', () => {
  test('time that is lived', () => {
    const { clock, live } = handClock();
    expect(clock.elapsed).toBe(0);
    live(90_500);
    expect(clock.elapsed).toBe(90_500);
  });

  test('the time of earlier runners comes first', () => {
    const { clock, live } = handClock(600_000);
    expect(clock.elapsed).toBe(600_000);
    live(3000);
    expect(clock.elapsed).toBe(603_000);
  });

  test('a suspension counts as two seconds at most, however long it was', () => {
    const { clock, live, jump } = handClock();
    live(10_000);
    jump(8 * 3600 * 1000);
    expect(clock.elapsed).toBe(12_000);
    live(1000);
    expect(clock.elapsed).toBe(13_000);
  });

  test('a clock that goes back takes nothing away', () => {
    const { clock, live, jump } = handClock();
    live(4000);
    jump(-3_600_000);
    expect(clock.elapsed).toBe(4000);
    live(1000);
    expect(clock.elapsed).toBe(5000);
  });

  test('the wall clock has no part in it', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const clock = new AliveClock();
      clocks.push(clock);
      vi.setSystemTime(Date.now() + 24 * 3600 * 1000);
      expect(clock.elapsed).toBeLessThan(2000);
    } finally {
      vi.useRealTimers();
    }
  });

  test('it never goes back and never grows by more than two seconds between two looks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100_000, max: 100_000 }), { maxLength: 50 }), (jumps) => {
        const { clock, jump } = handClock();
        let last = clock.elapsed;
        for (const ms of jumps) {
          jump(ms);
          const now = clock.elapsed;
          expect(now).toBeGreaterThanOrEqual(last);
          expect(now - last).toBeLessThanOrEqual(2000);
          last = now;
        }
        clock.dispose();
      }),
    );
  });
});

describe('alarms', () => {
  test('one rings once, when its time has been lived', () => {
    const { clock, live } = handClock();
    const ring = vi.fn();
    clock.after(5000, ring);
    live(4999);
    expect(ring).not.toHaveBeenCalled();
    live(1);
    expect(ring).toHaveBeenCalledOnce();
    live(20_000);
    expect(ring).toHaveBeenCalledOnce();
  });

  test('a suspension does not make one ring', () => {
    const { clock, live, jump } = handClock();
    const ring = vi.fn();
    clock.after(60_000, ring);
    live(1000);
    jump(3_600_000);
    clock.tick();
    expect(ring).not.toHaveBeenCalled();
    live(57_000);
    expect(ring).toHaveBeenCalledOnce();
  });

  test('one that is called off does not ring, and others do', () => {
    const { clock, live } = handClock();
    const [off, on] = [vi.fn(), vi.fn()];
    const callOff = clock.after(1000, off);
    clock.after(1000, on);
    callOff();
    callOff();
    live(2000);
    expect(off).not.toHaveBeenCalled();
    expect(on).toHaveBeenCalledOnce();
  });

  test('one may set another while it rings', () => {
    const { clock, live } = handClock();
    const second = vi.fn();
    clock.after(1000, () => clock.after(1000, second));
    live(1000);
    expect(second).not.toHaveBeenCalled();
    live(1000);
    expect(second).toHaveBeenCalledOnce();
  });

  test('one set after a long silence counts from now', () => {
    const { clock, live, jump } = handClock();
    const ring = vi.fn();
    jump(3_600_000);
    clock.after(3000, ring);
    live(2999);
    expect(ring).not.toHaveBeenCalled();
    live(1);
    expect(ring).toHaveBeenCalledOnce();
  });

  test('after dispose none rings', () => {
    const { clock, live } = handClock();
    const ring = vi.fn();
    clock.after(1000, ring);
    clock.dispose();
    live(5000);
    expect(ring).not.toHaveBeenCalled();
  });

  test('by itself a short one rings in time', async () => {
    const clock = new AliveClock();
    clocks.push(clock);
    const from = performance.now();
    let at = 0;
    clock.after(150, () => {
      at = performance.now();
    });
    await waitFor('the alarm', () => at > 0);
    expect(at - from).toBeGreaterThanOrEqual(149);
    expect(at - from).toBeLessThan(1500);
  });
});

describe('a clock that is held', () => {
  test('stands still until everybody has let it go', () => {
    const { clock, live } = handClock();
    live(2000);
    const [one, other] = [clock.hold(), clock.hold()];
    live(60_000);
    one();
    one();
    live(60_000);
    expect(clock.elapsed).toBe(2000);
    other();
    live(3000);
    expect(clock.elapsed).toBe(5000);
  });

  test('rings what was set before as much later', () => {
    const { clock, live } = handClock();
    const ring = vi.fn();
    clock.after(5000, ring);
    live(4000);
    const release = clock.hold();
    live(600_000);
    expect(ring).not.toHaveBeenCalled();
    release();
    live(999);
    expect(ring).not.toHaveBeenCalled();
    live(1);
    expect(ring).toHaveBeenCalledOnce();
  });

  test('meets a short limit on time, also when it was held over its end', async () => {
    const clock = new AliveClock();
    clocks.push(clock);
    const rung = vi.fn();
    const from = performance.now();
    clock.after(100, () => rung(performance.now() - from));
    const release = clock.hold();
    await waitFor('the limit to be over', () => performance.now() - from > 200);
    expect(rung).not.toHaveBeenCalled();
    const released = performance.now() - from;
    release();
    await waitFor('it to ring', () => rung.mock.calls.length > 0);
    expect(rung.mock.calls[0]?.[0] - released).toBeLessThan(900);
  });
});

/** The time limits of a run and of single tool calls. */
import { afterEach, describe, expect, test } from 'vitest';
import { AliveClock } from '../../src/core/time/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
import { Deadlines, FILE_TOOL_MS } from '../../src/runner/deadlines.ts';
import { RunControl } from '../../src/runner/run-control.ts';

interface Limits {
  timeoutMs?: number | null;
  toolTimeoutMs?: number;
}

const disposals: (() => void)[] = [];
afterEach(() => {
  for (const dispose of disposals.splice(0)) dispose();
});

/** Limits on a clock that is moved by hand; `aliveMs`: what earlier runners have lived. */
function watch({ timeoutMs = null, toolTimeoutMs }: Limits, aliveMs = 0) {
  const childLimits = { index: 1, scope: 'run' as const, timeoutMs, toolTimeoutMs };
  let time = 0;
  const clock = new AliveClock({ now: () => time, before: aliveMs });
  const control = new RunControl();
  const noted: JournalEvent[] = [];
  /** Reasons there were when a note was written: the note must come first. */
  const reasonsAtNotes: unknown[] = [];
  const deadlines = new Deadlines(clock, childLimits, control, async (event) => {
    reasonsAtNotes.push(control.reason);
    noted.push(event);
  });
  disposals.push(() => {
    deadlines.dispose();
    clock.dispose();
  });
  return {
    deadlines,
    control,
    noted,
    reasonsAtNotes,
    /** Milliseconds pass while the process lives. Ends when everything that rang has taken effect. */
    live: async (ms: number) => {
      for (let left = ms; left > 0; left -= 1000) {
        time += Math.min(left, 1000);
        clock.tick();
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
    /** Milliseconds pass while the process is suspended. */
    sleep: (ms: number) => {
      time += ms;
      clock.tick();
    },
  };
}

describe('the limit of the run', () => {
  test('ends it when it is reached, with what was going on', async () => {
    const { deadlines, control, noted, reasonsAtNotes, live } = watch({ timeoutMs: 90_000 });
    deadlines.phase = 'its tool bash was running';
    await live(89_999);
    expect(control.reason).toBeUndefined();
    await live(1);
    expect(control.reason).toBe('timeout');
    expect(control.error).toMatchObject({
      code: 'timed_out',
      message: 'The run timed out after 90000 ms (1m 30s), while its tool bash was running.',
      hint: expect.any(String),
    });
    expect(noted).toEqual([
      {
        type: 'timeout.reached',
        child: 1,
        scope: 'run',
        tool: null,
        phase: 'its tool bash was running',
        limitMs: 90_000,
      },
    ]);
    expect(reasonsAtNotes).toEqual([undefined]);
  });

  test('counts what earlier runners have lived', async () => {
    const { control, live } = watch({ timeoutMs: 90_000 }, 60_000);
    await live(29_999);
    expect(control.reason).toBeUndefined();
    await live(1);
    expect(control.reason).toBe('timeout');
  });

  test('is over at once when earlier runners have lived through it', async () => {
    const { control, live } = watch({ timeoutMs: 90_000 }, 100_000);
    await live(1);
    expect(control.reason).toBe('timeout');
  });

  test('does not count a suspension', async () => {
    const { control, live, sleep } = watch({ timeoutMs: 90_000 });
    await live(60_000);
    sleep(24 * 3600 * 1000);
    await live(27_999);
    expect(control.reason).toBeUndefined();
    await live(1);
    expect(control.reason).toBe('timeout');
  });

  test('is none when there is none, and none after the end of the work', async () => {
    const none = watch({ timeoutMs: null });
    await none.live(10_000_000);
    expect(none.control.reason).toBeUndefined();
    const over = watch({ timeoutMs: 5000 });
    over.deadlines.dispose();
    await over.live(10_000);
    expect(over.control.reason).toBeUndefined();
    expect(over.noted).toEqual([]);
  });
});

describe('the limit of a tool call', () => {
  test.each(['read', 'grep', 'find', 'ls', 'edit', 'write', 'structured_output'])(
    'run-63 is five minutes for the file tool %s',
    async (name) => {
      expect(FILE_TOOL_MS).toBe(300_000);
      const { deadlines, control, noted, live } = watch({});
      deadlines.toolStarted('call-1', name);
      await live(299_999);
      expect(control.reason).toBeUndefined();
      await live(1);
      expect(control.error).toMatchObject({
        code: 'tool_timed_out',
        message: `The tool ${name} timed out after 300000 ms (5m 00s).`,
      });
      expect(noted).toEqual([
        { type: 'timeout.reached', child: 1, scope: 'tool', tool: name, phase: 'tool', limitMs: 300_000 },
      ]);
    },
  );

  test('run-63 bash and tools of extensions have none unless one is given', async () => {
    const free = watch({});
    free.deadlines.toolStarted('call-1', 'bash');
    free.deadlines.toolStarted('call-2', 'web_search');
    await free.live(3_600_000);
    expect(free.control.reason).toBeUndefined();
    const given = watch({ toolTimeoutMs: 10_000 });
    given.deadlines.toolStarted('call-1', 'bash');
    await given.live(10_000);
    expect(given.control.error).toMatchObject({ code: 'tool_timed_out', message: expect.stringContaining('bash') });
  });

  test('run-63 one that is given counts for the file tools too', async () => {
    const longer = watch({ toolTimeoutMs: 400_000 });
    longer.deadlines.toolStarted('call-1', 'read');
    await longer.live(399_999);
    expect(longer.control.reason).toBeUndefined();
    await longer.live(1);
    expect(longer.control.reason).toBe('timeout');
  });

  test('run-63 belongs to its call: the end of another does not disarm it', async () => {
    const { deadlines, control, live } = watch({});
    deadlines.toolStarted('call-1', 'read');
    await live(100_000);
    deadlines.toolStarted('call-2', 'read');
    await live(100_000);
    deadlines.toolEnded('call-2');
    deadlines.toolEnded('call-unknown');
    await live(99_999);
    expect(control.reason).toBeUndefined();
    await live(1);
    expect(control.error?.code).toBe('tool_timed_out');
  });

  test('run-63 its own end disarms it', async () => {
    const { deadlines, control, noted, live } = watch({});
    deadlines.toolStarted('call-1', 'read');
    await live(299_999);
    deadlines.toolEnded('call-1');
    await live(3_600_000);
    expect(control.reason).toBeUndefined();
    expect(noted).toEqual([]);
  });

  test.each(['contact_supervisor', 'intercom', 'subagent_wait', 'bg_wait'])(
    'run-63 %s waits for somebody and has none, even when one is given',
    async (name) => {
      const { deadlines, control, live } = watch({ toolTimeoutMs: 5000 });
      deadlines.toolStarted('call-1', name);
      await live(3_600_000);
      expect(control.reason).toBeUndefined();
    },
  );

  test('run-63 the limit of the run wins when it comes first or at the same time', async () => {
    for (const timeoutMs of [200_000, 300_000]) {
      const { deadlines, control, noted, live } = watch({ timeoutMs });
      deadlines.toolStarted('call-1', 'read');
      await live(400_000);
      expect(control.error?.code).toBe('timed_out');
      expect(noted).toMatchObject([{ scope: 'run', limitMs: timeoutMs }]);
    }
  });

  test('run-63 what is left of the run counts, not its whole limit', async () => {
    const { deadlines, control, live } = watch({ timeoutMs: 500_000 });
    await live(250_000);
    deadlines.toolStarted('call-1', 'read');
    await live(250_000);
    expect(control.error?.code).toBe('timed_out');
  });

  test('run-63 the limit of the tool wins when it comes first', async () => {
    const { deadlines, control, live } = watch({ timeoutMs: 300_001 });
    deadlines.toolStarted('call-1', 'read');
    await live(300_000);
    expect(control.error?.code).toBe('tool_timed_out');
  });

  test('run-63 nothing rings after the end of the work', async () => {
    const { deadlines, control, noted, live } = watch({ timeoutMs: 600_000 });
    deadlines.toolStarted('call-1', 'read');
    deadlines.dispose();
    await live(700_000);
    expect(control.reason).toBeUndefined();
    expect(noted).toEqual([]);
  });
});

test('run-20 a stop that came first stays a stop', async () => {
  const { control, live } = watch({ timeoutMs: 5000 });
  control.request('stop');
  await live(5000);
  expect(control.reason).toBe('stop');
  expect(control.error).toBeNull();
});

/** When a person should look. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChildPhase, JournalEvent } from '../../src/protocol/index.ts';
import { ATTENTION_LIMITS, Attention } from '../../src/runner/attention.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watch(thinking?: string) {
  const noted: JournalEvent[] = [];
  const attention = new Attention((event) => noted.push(event), 1, thinking);
  return {
    attention,
    /** What was raised (`+`) and cleared (`-`), in order. */
    marks: () =>
      noted.map((event) =>
        event.type === 'attention.raised' || event.type === 'attention.cleared'
          ? `${event.type === 'attention.raised' ? '+' : '-'}${event.kind}`
          : event.type,
      ),
    noted,
  };
}

const only = (marks: string[], kind: string) => marks.filter((mark) => mark.endsWith(kind));
const seconds = (n: number) => vi.advanceTimersByTime(n * 1000);

test('the limits are those of the specification', () => {
  expect(ATTENTION_LIMITS).toEqual({ idleMs: 60_000, longMs: 240_000, failures: 3, failuresWithinMs: 300_000 });
});

describe('silence', () => {
  const idle = (marks: string[]) => only(marks, 'needs_attention');

  test('is not counted before the first turn', () => {
    const { attention, marks } = watch();
    attention.activity('thinking', 0);
    seconds(3600);
    expect(idle(marks())).toEqual([]);
  });

  test('of a minute after that is raised once, with its length, and cleared by the next sign of life', () => {
    const { attention, marks, noted } = watch();
    attention.activity('thinking', 1);
    seconds(59.9);
    expect(idle(marks())).toEqual([]);
    seconds(0.1);
    expect(noted).toEqual([
      {
        type: 'attention.raised',
        child: 1,
        kind: 'needs_attention',
        text: 'Nothing has been heard from it for 60 seconds.',
      },
    ]);
    seconds(120);
    expect(idle(marks())).toEqual(['+needs_attention']);
    attention.activity('thinking', 1);
    expect(idle(marks())).toEqual(['+needs_attention', '-needs_attention']);
    seconds(60);
    expect(idle(marks())).toEqual(['+needs_attention', '-needs_attention', '+needs_attention']);
  });

  test('is counted anew from every sign of life', () => {
    const { attention, marks } = watch();
    for (let n = 0; n < 10; n++) {
      attention.activity('thinking', 1);
      seconds(59);
    }
    expect(idle(marks())).toEqual([]);
  });

  test('is none while words are streamed, which change neither phase nor turns', () => {
    const { attention, marks } = watch();
    attention.activity('thinking', 1);
    for (let n = 0; n < 10; n++) {
      seconds(59);
      attention.heard();
    }
    expect(idle(marks())).toEqual([]);
    seconds(60);
    expect(idle(marks())).toEqual(['+needs_attention']);
    attention.heard();
    expect(idle(marks())).toEqual(['+needs_attention', '-needs_attention']);
    seconds(60);
    expect(idle(marks())).toEqual(['+needs_attention', '-needs_attention', '+needs_attention']);
  });

  test('words before the first turn and during a tool begin no count', () => {
    const { attention, marks } = watch();
    attention.heard();
    seconds(3600);
    attention.activity('tool', 1);
    attention.heard();
    seconds(3600);
    expect(idle(marks())).toEqual([]);
  });

  test.each<ChildPhase>(['tool', 'idle', 'ending'])('is not counted in the phase %s', (phase) => {
    const { attention, marks } = watch();
    attention.activity('thinking', 1);
    attention.activity(phase, 1);
    seconds(3600);
    expect(idle(marks())).toEqual([]);
  });

  test('is counted again after a tool', () => {
    const { attention, marks } = watch();
    attention.activity('tool', 1);
    seconds(600);
    attention.activity('thinking', 1);
    seconds(60);
    expect(idle(marks())).toEqual(['+needs_attention']);
  });

  test.each([
    [undefined, 60],
    ['off', 60],
    ['minimal', 60],
    ['low', 60],
    ['medium', 120],
    ['high', 300],
    ['xhigh', 600],
    ['max', 600],
  ])('at the thinking level %s it is borne for %i seconds', (level, patience) => {
    const { attention, marks, noted } = watch(level);
    attention.activity('thinking', 1);
    seconds(patience - 1);
    expect(idle(marks())).toEqual([]);
    seconds(1);
    expect(noted.find((event) => event.type === 'attention.raised' && event.kind === 'needs_attention')).toMatchObject({
      text: `Nothing has been heard from it for ${patience} seconds.`,
    });
  });
});

test('the patience is that of the level the child turns out to have', () => {
  const { attention, marks } = watch();
  attention.thinking = 'medium';
  attention.activity('thinking', 1);
  seconds(119);
  expect(marks()).toEqual([]);
  seconds(1);
  expect(marks()).toEqual(['+needs_attention']);
});

describe('long work', () => {
  const long = (marks: string[]) => only(marks, 'active_long_running');

  test('is raised once after four minutes, also during a tool', () => {
    const { attention, marks } = watch();
    attention.activity('tool', 1);
    seconds(239.9);
    expect(long(marks())).toEqual([]);
    seconds(0.1);
    expect(long(marks())).toEqual(['+active_long_running']);
    attention.activity('thinking', 2);
    seconds(3600);
    expect(long(marks())).toEqual(['+active_long_running']);
  });
});

describe('tools that fail', () => {
  const failing = (marks: string[]) => only(marks, 'failing_tools');

  test('three edits or commands within five minutes', () => {
    const { attention, marks, noted } = watch();
    attention.toolEnded('edit', true, 0);
    attention.toolEnded('bash', true, 100_000);
    expect(failing(marks())).toEqual([]);
    attention.toolEnded('write', true, 299_999);
    expect(noted).toEqual([
      {
        type: 'attention.raised',
        child: 1,
        kind: 'failing_tools',
        text: '3 edits or commands in a row have failed.',
      },
    ]);
    attention.toolEnded('write', true, 299_999);
    expect(failing(marks())).toEqual(['+failing_tools']);
  });

  test('not when the first of them is five minutes old', () => {
    const { attention, marks } = watch();
    attention.toolEnded('edit', true, 0);
    attention.toolEnded('edit', true, 150_000);
    attention.toolEnded('edit', true, 300_000);
    expect(failing(marks())).toEqual([]);
    attention.toolEnded('edit', true, 300_001);
    expect(failing(marks())).toEqual(['+failing_tools']);
  });

  test('one that succeeds begins the count anew and clears the mark', () => {
    const { attention, marks } = watch();
    for (const isError of [true, true, false, true, true]) attention.toolEnded('bash', isError, 1000);
    expect(failing(marks())).toEqual([]);
    attention.toolEnded('bash', true, 1000);
    expect(failing(marks())).toEqual(['+failing_tools']);
    attention.toolEnded('edit', false, 1000);
    expect(failing(marks())).toEqual(['+failing_tools', '-failing_tools']);
  });

  test('tools that change nothing do not count, neither way', () => {
    const { attention, marks } = watch();
    attention.toolEnded('bash', true, 1000);
    attention.toolEnded('read', true, 1000);
    attention.toolEnded('grep', false, 1000);
    attention.toolEnded('bash', true, 1000);
    expect(failing(marks())).toEqual([]);
    attention.toolEnded('bash', true, 1000);
    expect(failing(marks())).toEqual(['+failing_tools']);
  });
});

test('nothing is raised after the end', () => {
  const { attention, marks } = watch();
  attention.activity('thinking', 1);
  attention.dispose();
  attention.heard();
  seconds(3600);
  expect(marks()).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('limits can be given', () => {
  const noted: string[] = [];
  const attention = new Attention((event) => noted.push(event.type), 1, 'high', {
    idleMs: 10,
    longMs: 1000,
    failures: 1,
    failuresWithinMs: 5,
  });
  attention.activity('thinking', 1);
  vi.advanceTimersByTime(49);
  expect(noted).toEqual([]);
  vi.advanceTimersByTime(1);
  attention.toolEnded('bash', true);
  expect(noted).toEqual(['attention.raised', 'attention.raised']);
  attention.dispose();
});

/** Why a run is to end, when several reasons come together. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ErrorValue } from '../../src/protocol/index.ts';
import { type EndReason, RunControl } from '../../src/runner/run-control.ts';

const late: ErrorValue = { code: 'timed_out', message: 'The run timed out.' };
const reasons: readonly EndReason[] = ['interrupt', 'timeout', 'stop'];

function askedFor(...requests: EndReason[]): RunControl {
  const control = new RunControl();
  for (const reason of requests) control.request(reason, reason === 'timeout' ? late : null);
  return control;
}

describe('precedence', () => {
  test('nothing is asked at first', () => {
    const control = new RunControl();
    expect(control.reason).toBeUndefined();
    expect(control.error).toBeNull();
  });

  test.each<[EndReason[], EndReason]>([
    [['interrupt', 'timeout'], 'timeout'],
    [['timeout', 'interrupt'], 'timeout'],
    [['timeout', 'stop'], 'stop'],
    [['stop', 'timeout'], 'stop'],
    [['interrupt', 'stop'], 'stop'],
    [['stop', 'interrupt'], 'stop'],
    [['stop', 'timeout', 'interrupt'], 'stop'],
    [['interrupt', 'timeout', 'stop'], 'stop'],
  ])('run-20 %j ends as %s', (requests, wanted) => {
    expect(askedFor(...requests).reason).toBe(wanted);
  });

  test('run-20 whatever the order, the strongest wins, and its error with it', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...reasons), { minLength: 1, maxLength: 6 }), (requests) => {
        const control = askedFor(...requests);
        const wanted = reasons.findLast((reason) => requests.includes(reason));
        expect(control.reason).toBe(wanted);
        expect(control.error).toEqual(wanted === 'timeout' ? late : null);
      }),
    );
  });

  test('the first of two timeouts says what was reached', () => {
    const control = askedFor('timeout');
    control.request('timeout', { code: 'tool_timed_out', message: 'The tool bash timed out.' });
    expect(control.error).toEqual(late);
  });
});

describe('the race with the work', () => {
  test('work that ends first gives its result', async () => {
    expect(await new RunControl().race(Promise.resolve('done'))).toBe('done');
  });

  test('work that fails first fails', async () => {
    await expect(new RunControl().race(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  test('a reason that comes meanwhile ends the wait, not the work', async () => {
    const control = new RunControl();
    const work = Promise.withResolvers<string>();
    const race = control.race(work.promise);
    control.request('interrupt');
    expect(await race).toBe('ended');
    work.resolve('went on');
    expect(await work.promise).toBe('went on');
  });

  test('a reason that is there already wins, and a later failure of the work is nobody’s unhandled error', async () => {
    const control = askedFor('stop');
    expect(await control.race(Promise.reject(new Error('too late')))).toBe('ended');
    expect(await control.race(Promise.resolve('done'))).toBe('ended');
  });
});

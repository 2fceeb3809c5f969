/** Fault points: the process is killed around the n-th event of a type. */
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { faultFrom } from '../../src/runner/fault.ts';
import { oneOfEach } from './builders/events.ts';

const kill = vi.spyOn(process, 'kill');
beforeEach(() => {
  kill.mockReset().mockReturnValue(true);
});
afterAll(() => {
  kill.mockRestore();
});

const kills = () => kill.mock.calls.length;

describe('a fault', () => {
  it('kills this process, without a chance to tidy up, at its event and side', () => {
    const fault = faultFrom('child.prompt.intended:after');
    fault?.('child.prompt.intended', 'before');
    fault?.('child.prompted', 'after');
    expect(kills()).toBe(0);
    fault?.('child.prompt.intended', 'after');
    expect(kill.mock.calls).toEqual([[process.pid, 'SIGKILL']]);
  });

  it('can come before an event', () => {
    const fault = faultFrom('run.ended:before');
    fault?.('run.ended', 'after');
    expect(kills()).toBe(0);
    fault?.('run.ended', 'before');
    expect(kills()).toBe(1);
  });

  it('is met at the n-th event, and only then', () => {
    const fault = faultFrom('child.progress:after:3');
    const counts = Array.from({ length: 5 }, () => {
      fault?.('child.progress', 'after');
      fault?.('child.progress', 'before');
      return kills();
    });
    expect(counts).toEqual([0, 0, 1, 1, 1]);
  });

  it('is known for every type of event', () => {
    for (const event of Object.values(oneOfEach)) {
      kill.mockClear();
      faultFrom(`${event.type}:before`)?.(event.type, 'before');
      expect(kills(), event.type).toBe(1);
    }
  });

  it('is none without a request for one that is understood', () => {
    const texts = [undefined, '', 'run.ended', 'run.ended:during', 'run.ended:after:', 'run.ended:after:x', ':after'];
    for (const text of texts) expect(faultFrom(text), text).toBeUndefined();
    expect(faultFrom('run.ended:after:1 and more')).toBeUndefined();
  });
});

/** A living run stays findable. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Presence } from '../../src/runner/presence.ts';

const made: Presence[] = [];
afterEach(() => {
  for (const presence of made.splice(0)) presence.stop();
  vi.useRealTimers();
});

function watch(renew: () => Promise<'held' | 'renewed' | 'lost'>, everyMs?: number) {
  const server = { renew: vi.fn(async () => false) };
  const onLost = vi.fn();
  const run = { renew: vi.fn(renew) };
  const presence = new Presence({ run: () => run, server, onLost, ...(everyMs === undefined ? {} : { everyMs }) });
  made.push(presence);
  return { presence, run, server, onLost };
}

describe('a look', () => {
  it('puts lease and socket right; one that fails does not keep the other from it, and the next look tries again', async () => {
    const { presence, run, server, onLost } = watch(async () => 'renewed');
    await presence.look();
    run.renew.mockRejectedValueOnce(new Error('no rights'));
    await presence.look();
    server.renew.mockRejectedValueOnce(new Error('no folder'));
    await presence.look();
    await presence.look();
    expect([run.renew.mock.calls.length, server.renew.mock.calls.length, onLost.mock.calls.length]).toEqual([4, 4, 0]);
  });

  it('tells once that the run has another owner, and does nothing more', async () => {
    vi.useFakeTimers();
    const { run, server, onLost } = watch(async () => 'lost');
    await vi.advanceTimersByTimeAsync(60_000);
    expect([run.renew.mock.calls.length, server.renew.mock.calls.length, onLost.mock.calls.length]).toEqual([1, 0, 1]);
  });

  it('comes every five seconds, and not before the last one is over', async () => {
    vi.useFakeTimers();
    const pending = Promise.withResolvers<'held'>();
    const { run } = watch(() => pending.promise);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(run.renew).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(15_001);
    expect(run.renew).toHaveBeenCalledTimes(1);
    pending.resolve('held');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(run.renew).toHaveBeenCalledTimes(2);
  });
});

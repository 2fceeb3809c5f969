/** Messages to a working child, and what is told about them. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lanesError, MAX_STEER_BYTES, type RpcParams } from '../../src/protocol/index.ts';
import { Steering } from '../../src/runner/steering.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { FakeChild } from './builders/child.ts';
import { someone } from './builders/events.ts';
import { openRun, type RunAtWork } from './builders/open-run.ts';
import { secrets } from './builders/secrets.ts';

let folder: TempDir;
let work: RunAtWork;
let child: FakeChild;
let steering: Steering;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  work = await openRun(folder.path);
  child = new FakeChild();
  steering = new Steering(work.run);
});

afterEach(async () => {
  vi.useRealTimers();
  await work.run.end('complete', null);
  await folder.remove();
});

const say = (message: string, requestId: string = message, mode: RpcParams<'steer'>['mode'] = 'steer') =>
  steering.request({ requestId, by: someone, mode, message });

/** What the journal tells of the messages, one after the other. */
async function story(): Promise<string[]> {
  return (await work.journal()).map((event) => {
    if (event.type === 'control.requested') return `${event.requestId} asked`;
    if (event.type !== 'control.settled') return event.type;
    return `${event.requestId} ${event.outcome}${event.reason === null ? '' : `: ${event.reason}`}`;
  });
}

const turn = () => new Promise<void>((done) => setImmediate(done));
/** Waits for a state of a message, on timers that stand still. */
async function reaches(requestId: string, state: string): Promise<void> {
  const now = () => work.run.view.steering.find((message) => message.requestId === requestId)?.state;
  // A busy disk takes its time; this clock goes on.
  const from = performance.now();
  while (now() !== state && performance.now() - from < 10_000) await turn();
  expect(now()).toBe(state);
}

/** Hears what it is told, and asks its model with it, as soon as it is told. */
function attentive(): void {
  child.taking = async (text) => {
    steering.heard(text);
    steering.modelAsked();
  };
}

describe('a message', () => {
  it('is written down whole, before the child is told', async () => {
    const text = 'Use the\n  north gate, ü.';
    let before: string[] = [];
    child.taking = async () => {
      before = await story();
      steering.heard(text);
      steering.modelAsked();
    };
    await steering.attach(child);
    await say(text, 'm1');
    expect(before).toEqual(['m1 asked']);
    const file = 'control/m1.txt';
    expect(await readFile(join(work.run.layout.directory, file), 'utf8')).toBe(text);
    expect((await work.journal())[0]).toEqual({
      type: 'control.requested',
      requestId: 'm1',
      action: 'steer',
      by: someone,
      message: {
        file,
        bytes: Buffer.byteLength(text),
        sha256: createHash('sha256').update(text).digest('hex'),
      },
      preview: 'Use the north gate, ü.',
    });
    expect(child.told).toEqual([`steer: ${text}`]);
  });

  it('is shown by its beginning, without tokens; the child gets all of it', async () => {
    const { text, secret } = secrets['an npm token'] ?? { text: '', secret: '' };
    const whole = `Use ${text} ${'word '.repeat(100)}`;
    await steering.attach(child);
    attentive();
    await say(whole, 'm1');
    const preview = work.run.view.steering[0]?.preview ?? '';
    expect(preview).toMatch(/^Use \[redacted\] word word/);
    expect(preview).toHaveLength(160);
    expect(await readFile(work.run.layout.journal, 'utf8')).not.toContain(secret);
    expect(child.told).toEqual([`steer: ${whole}`]);
  });

  it('is told as what it is', async () => {
    await steering.attach(child);
    attentive();
    await say('now', 'a');
    await say('later', 'b', 'follow-up');
    expect(child.told).toEqual(['steer: now', 'follow-up: later']);
    expect(work.run.view.steering.map(({ mode }) => mode)).toEqual(['steer', 'follow-up']);
  });

  it('that is empty or too long is refused without a trace', async () => {
    await steering.attach(child);
    const most = 'ü'.repeat(MAX_STEER_BYTES / 2);
    for (const [text, code] of [
      ['', 'steer_empty'],
      [' \n\t', 'steer_empty'],
      [`${most}!`, 'steer_too_large'],
    ] as const)
      await expect(say(text, `m${text.length}`)).rejects.toMatchObject({ code, hint: expect.any(String) });
    expect(MAX_STEER_BYTES).toBe(128 * 1024);
    expect(await story()).toEqual([]);
    expect(await readdir(work.run.layout.directory)).not.toContain('control');
    attentive();
    expect(await say(most, 'most')).toEqual({ state: 'delivered', reason: null });
  });
});

describe('a request', () => {
  it('that comes again is the same one, while it is carried out and afterwards', async () => {
    await steering.attach(child);
    const receipts = [say('left', 'm1'), say('left', 'm1')];
    await reaches('m1', 'queued');
    receipts.push(say('right', 'm1'));
    steering.heard('left');
    steering.modelAsked();
    receipts.push(say('left', 'm1'));
    for (const receipt of await Promise.all(receipts)) expect(receipt).toEqual({ state: 'delivered', reason: null });
    await steering.close();
    expect(await say('left', 'm1')).toEqual({ state: 'delivered', reason: null });
    expect(await story()).toEqual(['m1 asked', 'm1 queued', 'm1 delivered']);
    expect(child.told).toEqual(['steer: left']);
  });
});

describe('a receipt', () => {
  it('says delivered only when the model was asked with the message in front of it', async () => {
    await steering.attach(child);
    const receipt = say('left');
    await reaches('left', 'queued');
    // The model is asked, but has not heard it.
    steering.modelAsked();
    steering.heard('something else');
    steering.modelAsked();
    // It is heard, but the model is not asked.
    steering.heard('left');
    await turn();
    expect(await story()).toEqual(['left asked', 'left queued']);
    steering.modelAsked();
    expect(await receipt).toEqual({ state: 'delivered', reason: null });
    expect(await story()).toEqual(['left asked', 'left queued', 'left delivered']);
    // Once is enough.
    steering.heard('left');
    steering.modelAsked();
    await steering.close();
    expect(await story()).toHaveLength(3);
  });

  it('says queued after three seconds, when no more is known', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await steering.attach(child);
    const receipt = say('left');
    await reaches('left', 'queued');
    let known: unknown;
    void receipt.then((found) => {
      known = found;
    });
    for (let i = 0; i < 20; i++) await turn();
    vi.advanceTimersByTime(2_999);
    for (let i = 0; i < 20; i++) await turn();
    expect(known).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(await receipt).toEqual({ state: 'queued', reason: null });
    expect(vi.getTimerCount()).toBe(0);
    // What becomes of it stands in the journal.
    steering.heard('left');
    steering.modelAsked();
    await reaches('left', 'delivered');
  });

  it('says queued, and why, while the child has not been asked its task', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const receipts = [say('first'), say('second', 'second', 'follow-up')];
    await reaches('first', 'pending');
    await reaches('second', 'pending');
    for (let i = 0; i < 20; i++) await turn();
    vi.advanceTimersByTime(3_000);
    const queued = { state: 'queued', reason: 'the agent is still starting' };
    expect(await Promise.all(receipts)).toEqual([queued, queued]);
    expect(await story()).toEqual(expect.arrayContaining(['first asked', 'second asked']));
    expect(child.told).toEqual([]);
    await steering.attach(child);
    const order = work.run.view.steering.map(({ requestId }) => requestId);
    expect(child.told.map((text) => text.split(': ')[1])).toEqual(order);
    expect((await story()).slice(2)).toEqual(order.map((id) => `${id} queued`));
  });

  it('never goes back to queued when the child was quicker than its answer', async () => {
    await steering.attach(child);
    attentive();
    expect(await say('left')).toEqual({ state: 'delivered', reason: null });
    expect(await story()).toEqual(['left asked', 'left delivered']);
  });

  it('says failed, with the reason, when the child refuses the message', async () => {
    await steering.attach(child);
    child.taking = () => Promise.reject(lanesError('pi_failed:refused', { command: 'prompt', reason: 'no.' }));
    expect(await say('left')).toEqual({ state: 'failed', reason: 'Pi refused prompt: no.' });
    expect(await story()).toEqual(['left asked', 'left failed: Pi refused prompt: no.']);
    steering.heard('left');
    steering.modelAsked();
    await steering.close();
    expect(await story()).toHaveLength(2);
    // The next one is not spoiled by it.
    steering = new Steering(work.run);
    await steering.attach(child);
    attentive();
    expect((await say('right')).state).toBe('delivered');
  });

  it('goes to the message that was heard, the oldest of equal ones', async () => {
    await steering.attach(child);
    const receipts = [say('again', 'a'), say('again', 'b'), say('  other \n', 'c')];
    for (const id of ['a', 'b', 'c']) await reaches(id, 'queued');
    // Pi trims what it is told.
    steering.heard('other');
    steering.modelAsked();
    expect(await receipts[2]).toMatchObject({ state: 'delivered' });
    steering.heard('again');
    steering.modelAsked();
    const [first, second] = work.run.view.steering.filter(({ preview }) => preview === 'again');
    await reaches(first?.requestId ?? '', 'delivered');
    expect(work.run.view.steering.find(({ requestId }) => requestId === second?.requestId)?.state).toBe('queued');
    steering.heard('again');
    steering.modelAsked();
    for (const receipt of await Promise.all(receipts)) expect(receipt).toEqual({ state: 'delivered', reason: null });
  });
});

describe('a message that is a command', () => {
  it('is missed when an extension dealt with it, because no model was asked', async () => {
    await steering.attach(child);
    child.disposition = 'handled';
    const reason = 'an extension of the agent dealt with it; its model was not asked';
    expect(await say('/quota', 'a')).toEqual({ state: 'missed', reason });
    expect(await story()).toEqual(['a asked', `a missed: ${reason}`]);
  });
});

describe('when the child says its work is over', () => {
  it('what is on its way is waited for, and nothing more is handed over until it is attached again', async () => {
    await steering.attach(child);
    const arrived = Promise.withResolvers<void>();
    child.taking = () => arrived.promise;
    const first = say('first');
    await reaches('first', 'pending');
    await expect.poll(() => child.told).toEqual(['steer: first']);
    let isQuiet = false;
    const quiet = steering.quiet().then(() => {
      isQuiet = true;
    });
    const second = say('second');
    await reaches('second', 'pending');
    for (let i = 0; i < 20; i++) await turn();
    expect([isQuiet, child.told]).toEqual([false, ['steer: first']]);
    arrived.resolve();
    await quiet;
    // It has begun more work, so both are taken up.
    attentive();
    await steering.attach(child);
    steering.heard('first');
    steering.modelAsked();
    expect(await Promise.all([first, second])).toEqual([
      { state: 'delivered', reason: null },
      { state: 'delivered', reason: null },
    ]);
  });
});

describe('the end of the work', () => {
  it('makes every message missed that was not taken up, at once', async () => {
    const early = say('waits');
    await reaches('waits', 'pending');
    await steering.close();
    const missed = { state: 'missed', reason: 'the agent ended before it took the message up' };
    expect(await early).toEqual(missed);

    steering = new Steering(work.run);
    await steering.attach(child);
    const receipts = [say('queued'), say('heard'), say('delivered')];
    for (const id of ['queued', 'heard', 'delivered']) await reaches(id, 'queued');
    steering.heard('delivered');
    steering.modelAsked();
    steering.heard('heard');
    await steering.close();
    expect(await Promise.all(receipts)).toEqual([missed, missed, { state: 'delivered', reason: null }]);
    const states = work.run.view.steering.map(({ requestId, state }) => `${requestId} ${state}`);
    expect(states.sort()).toEqual(['delivered delivered', 'heard missed', 'queued missed', 'waits missed']);
  });

  it('refuses what comes later, without a trace', async () => {
    await steering.attach(child);
    await steering.close();
    expect(await say('left')).toEqual({ state: 'missed', reason: 'the agent has ended its work' });
    expect(await story()).toEqual([]);
    expect(child.told).toEqual([]);
  });

  it('does not lose a message that is being written down', async () => {
    await steering.attach(child);
    const receipt = say('left');
    await steering.close();
    const reason = 'the agent ended before it took the message up';
    // It is settled before the end of the run can be written.
    expect(await story()).toEqual(['left asked', `left missed: ${reason}`]);
    expect(await receipt).toEqual({ state: 'missed', reason });
    expect(child.told).toEqual([]);
  });

  it('leaves each message with exactly one end, whatever happened', async () => {
    type Step = { do: 'say' | 'hear' | 'refuse'; id: number } | { do: 'ask' } | { do: 'attach' };
    const id = fc.nat({ max: 3 });
    const step: fc.Arbitrary<Step> = fc.oneof(
      fc.record({ do: fc.constantFrom('say' as const, 'hear' as const, 'refuse' as const), id }),
      fc.record({ do: fc.constantFrom('ask' as const, 'attach' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const from = (await work.journal()).length;
        steering = new Steering(work.run);
        child = new FakeChild();
        const receipts: Promise<unknown>[] = [];
        for (const [i, one] of steps.entries()) {
          if (one.do === 'say') receipts.push(say(`text ${one.id}`, `m${from}-${i}`));
          else if (one.do === 'hear') steering.heard(`text ${one.id}`);
          else if (one.do === 'ask') steering.modelAsked();
          else if (one.do === 'attach') await steering.attach(child);
          else child.taking = () => Promise.reject(new Error('no'));
          if (i % 2) await turn();
        }
        await steering.close();
        await Promise.all(receipts);
        const events = (await work.journal()).slice(from);
        const asked = events.flatMap((event) => (event.type === 'control.requested' ? [event.requestId] : []));
        expect(asked).toHaveLength(receipts.length);
        for (const requestId of asked) {
          const outcomes = events.flatMap((event) =>
            event.type === 'control.settled' && event.requestId === requestId ? [event.outcome] : [],
          );
          const [last, ...earlier] = outcomes.reverse();
          expect(['delivered', 'missed', 'failed']).toContain(last);
          expect(earlier.filter((outcome) => outcome !== 'queued')).toEqual([]);
          expect(earlier.length).toBeLessThanOrEqual(1);
        }
        // Nothing is said twice.
        for (const text of new Set(child.told)) {
          const said = steps.filter((one) => one.do === 'say' && text === `steer: text ${one.id}`);
          expect(child.told.filter((other) => other === text).length).toBeLessThanOrEqual(said.length);
        }
      }),
      { numRuns: 40 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { HostCommandResult, SteerReceipt } from '../../../src/api/workflow-execution-types.ts';
import { P, play, rows } from './workflow.ts';

const H = `{kind: 'command', command: 'npm test', timeoutMs: 1000}`;
const passed: HostCommandResult = {
  ok: true,
  state: 'passed',
  exitCode: 0,
  stdout: 'out',
  stderr: '',
  outputPath: '/log',
  durationMs: 5,
};

describe('runs.steer', () => {
  it('wf-64 wrong arguments never reach the host; an unknown key is refused', async () => {
    const asked: unknown[] = [];
    const { value } = await play(
      `await runs.run('a', ${P}); const out = [];
       for (const args of [['-x', 'm'], [5, 'm'], ['a', ' '], ['a', 5], ['a', undefined], ['a', 'm', 5], ['a', 'm', {mode: 'shout'}], ['a', 'm', {index: -1}],
         ['a', 'm', {index: 1000001}], ['a', 'm', {ackTimeoutMs: 0}], ['a', 'm', {more: 1}], ['unknown', 'm']]) {
         try { await runs.steer(...args); out.push('accepted') } catch (e) { out.push(e.message) } }
       return out`,
      {
        host: {
          steer: (call) => {
            asked.push(call);
            return { state: 'delivered' };
          },
        },
      },
    );
    expect(value).toHaveLength(12);
    for (const message of value as string[]) expect(message).toContain('runs.steer');
    expect((value as string[]).at(-1)).toContain('prior launch');
    expect(asked).toEqual([]);
  });

  it('wf-65 receipts pass through; failed and missed do not throw; two rows each', async () => {
    const receipts: Record<string, SteerReceipt | undefined> = {
      one: { state: 'delivered', requestId: 'q', targets: [{ index: 0, state: 'delivered' }] },
      two: { state: 'queued' },
      three: { state: 'missed' },
      four: { state: 'failed', error: 'no route' },
      five: undefined,
    };
    const execution = await play(
      `runs.run('a', ${P}).catch(() => {}); const out = []; for (const m of ['one', 'two', 'three', 'four', 'five', 'six']) out.push(await runs.steer('a', ' ' + m + ' ', {mode: 'auto'}));
       await runs.run('a', ${P}); return out`,
      {
        host: {
          steer: ({ message }) => {
            if (message === 'six') throw new Error('transport');
            return receipts[message] as SteerReceipt;
          },
        },
      },
    );
    expect(execution.value).toEqual([
      { key: 'a', state: 'delivered', requestId: 'q', targets: [{ index: 0, state: 'delivered' }] },
      { key: 'a', state: 'queued' },
      { key: 'a', state: 'missed' },
      { key: 'a', state: 'failed', error: 'no route' },
      { key: 'a', state: 'failed', error: expect.any(String) },
      { key: 'a', state: 'failed', error: 'transport' },
    ]);
    expect(rows(execution).filter((row) => row.startsWith('steer'))).toEqual(
      ['delivered', 'queued', 'missed', 'failed', 'failed', 'failed'].flatMap((state) => [
        'steer a started',
        `steer a ${state}`,
      ]),
    );
  });

  it('wf-66 a steer that nobody awaits settles, then the workflow fails and names it', async () => {
    let settled = false;
    const execution = await play(`await runs.run('a', ${P}); runs.steer('a', 'm'); return 1`, {
      host: {
        steer: () =>
          new Promise((resolve) =>
            setTimeout(() => {
              settled = true;
              resolve({ state: 'delivered' });
            }, 30),
          ),
      },
    });
    expect(settled).toBe(true);
    expect(execution.error).toMatchObject({ kind: 'unawaited', message: expect.stringMatching(/runs\.steer.*'a'/) });
    expect(rows(execution).at(-1)).toBe('steer a delivered');
  });

  it('what a host does not have rejects as not available', async () => {
    const execution = await play(
      `await runs.run('a', ${P}); const out = [];
       for (const ask of [() => runs.steer('a', 'm'), () => runs.host('h', ${H}), () => runs.status('a')]) { try { await ask() } catch (e) { out.push(e.message) } } return out`,
    );
    expect(execution.value).toEqual(
      ['steer', 'host', 'status'].map((name) => expect.stringMatching(new RegExp(`runs\\.${name} is not available`))),
    );
  });
});

describe('runs.host', () => {
  it('wf-67 success is a value, failure rejects with reason and what was said', async () => {
    const answers: Record<string, HostCommandResult> = {
      ok: passed,
      bad: { ok: false, state: 'failed', exitCode: 3, stdout: '', stderr: `line one\nline two ${'x'.repeat(300)}` },
      slow: { ok: false, state: 'timed-out', stdout: 'so far' },
      off: { ok: false, state: 'stopped' },
    };
    const execution = await play(
      `const out = []; for (const k of ['ok', 'bad', 'slow', 'off']) { try { out.push(await runs.host(k, ${H})) } catch (e) { out.push(e.message) } } return out`,
      { host: { hostCommand: ({ key }) => answers[key] as HostCommandResult } },
    );
    const [ok, bad, slow, off] = execution.value as [unknown, string, string, string];
    expect(ok).toEqual({
      key: 'ok',
      kind: 'command',
      ok: true,
      state: 'passed',
      exitCode: 0,
      stdout: 'out',
      stderr: '',
      outputPath: '/log',
      durationMs: 5,
    });
    expect(bad).toMatch(/^Host command 'bad' failed: exit code 3: line one line two x+$/);
    expect(bad.length).toBeLessThan(260);
    expect(slow).toBe("Host command 'slow' failed: it timed out: so far");
    expect(off).toBe("Host command 'off' failed: it was stopped");
    expect(rows(execution)).toEqual([
      'host ok started',
      'host ok completed',
      'host bad started',
      'host bad failed',
      'host slow started',
      'host slow failed',
      'host off started',
      'host off stopped',
    ]);
  });

  it('wf-68 wrong parameters never reach the host', async () => {
    const wrong = [
      `{kind: 'shell', command: 'x', timeoutMs: 1}`,
      `{command: 'x', timeoutMs: 1}`,
      `{kind: 'command', command: ' ', timeoutMs: 1}`,
      `{kind: 'command', command: 'a\\0b', timeoutMs: 1}`,
      `{kind: 'command', command: 'x'}`,
      `{kind: 'command', command: 'x', timeoutMs: 0}`,
      `{kind: 'command', command: 'x', timeoutMs: 86400001}`,
      `{kind: 'command', command: 'x', timeoutMs: 1.5}`,
      ...['/abs', '../up', 'a/../../b', 'C:x', 'a\nb', ''].map(
        (output) => `{kind: 'command', command: 'x', timeoutMs: 1, output: ${JSON.stringify(output)}}`,
      ),
      `{kind: 'command', command: 'x', timeoutMs: 1, role: 'boss'}`,
      `{kind: 'command', command: 'x', timeoutMs: 1, provider: 'a\\nb'}`,
      `{kind: 'command', command: 'x', timeoutMs: 1, cwd: '/'}`,
      `{kind: 'command', command: 'x', timeoutMs: 1, more: 1}`,
      `{kind: 'command', command: 'x'.repeat(16385), timeoutMs: 1}`,
    ];
    const asked: unknown[] = [];
    const { value, error } = await play(
      `const out = []; for (const params of [${wrong.join(', ')}]) { try { runs.host('h', params); out.push('accepted') } catch (e) { out.push(e.message) } } return out`,
      {
        host: {
          hostCommand: (call) => {
            asked.push(call);
            return passed;
          },
        },
      },
    );
    expect(error).toBeUndefined();
    expect((value as string[]).filter((message) => !message.includes('runs.host'))).toEqual([]);
    expect((value as string[])[16]).toMatch(/folder of the workflow.*outer|request that starts/s);
    expect(asked).toEqual([]);
  });

  it('wf-70 the 33rd call is refused; one that nobody awaits settles and fails the workflow', async () => {
    const host = { hostCommand: () => passed };
    const { value } = await play(
      `for (let i = 0; i < 32; i++) await runs.host('h' + i, ${H}); try { runs.host('h32', ${H}) } catch (e) { return [e.message, e.kind] }`,
      { host },
    );
    expect(value).toEqual([expect.stringMatching(/at most 32/), 'limit']);
    const unawaited = await play(`runs.host('h', ${H}); return 1`, { host });
    expect(unawaited.error).toMatchObject({ kind: 'unawaited', message: expect.stringMatching(/runs\.host.*'h'/) });
    expect(rows(unawaited)).toEqual(['host h started', 'host h completed']);
  });
});

describe('status, state, console', () => {
  it('status translates the key of a settled child, rejects a failed status, and need not be awaited', async () => {
    const asked: string[] = [];
    const status = (runId: string) => {
      asked.push(runId);
      return runId === 'gone' ? { ok: false, error: 'unknown run' } : { ok: true, output: `status of ${runId}` };
    };
    const execution = await play(
      `await runs.run('a', ${P}); const s = await runs.status('a'); let bad; try { await runs.status('gone') } catch (e) { bad = e.message }
       const out = []; for (const x of [' ', 5]) { try { runs.status(x) } catch (e) { out.push(e.name) } } runs.status('later'); return [s.output, bad, out]`,
      { host: { status } },
    );
    expect(execution.ok).toBe(true);
    expect(execution.value).toEqual(['status of run-a', "Status 'gone' failed: unknown run", ['Error', 'Error']]);
    expect(asked.slice(0, 2)).toEqual(['run-a', 'gone']);
    expect(rows(execution).slice(2, 6)).toEqual([
      'status a started',
      'status a completed',
      'status gone started',
      'status gone failed',
    ]);
  });

  it('wf-17 state exists exactly when there is one, and cannot be replaced', async () => {
    expect((await play('return typeof state')).value).toBe('undefined');
    const { value } = await play(
      `state.get = 1; delete state.set; return [typeof state, typeof state.get, typeof state.set, Object.isFrozen(state)]`,
      {
        state: { get: () => 1, set: () => {} },
      },
    );
    expect(value).toEqual(['object', 'function', 'function', true]);
  });

  it('wf-71 state: round trip, a missing key is undefined, a value over 256 KiB is refused, bad keys too', async () => {
    const stored = new Map<string, unknown>();
    const state = {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: unknown) => void stored.set(key, value),
    };
    const { value } = await play(
      `await state.set('a', {list: [1, null]}); const out = [await state.get('a'), (await state.get('none')) === undefined, await state.set('b', 1) === undefined];
       for (const bad of [() => state.set('big', 'x'.repeat(262145)), () => state.set('-k', 1), () => state.get(5)]) { try { bad() } catch (e) { out.push(e.message) } } return out`,
      { state },
    );
    expect(value).toEqual([
      { list: [1, null] },
      true,
      true,
      expect.stringMatching(/262147 bytes; at most 262144/),
      expect.stringContaining('state.set'),
      expect.stringContaining('state.get'),
    ]);
    expect([...stored]).toEqual([
      ['a', { list: [1, null] }],
      ['b', 1],
    ]);
    const failing = await play(`try { await state.set('a', 1) } catch (e) { return e.message }`, {
      state: { get: () => 1, set: () => Promise.reject(new Error('disk')) },
    });
    expect(failing.value).toBe('disk');
  });

  it('H18 a state.set that nobody awaits is done before the workflow ends', async () => {
    let done = false;
    const { ok } = await play(`state.set('a', 1); return 1`, {
      state: {
        get: () => 1,
        set: () =>
          new Promise<void>((resolve) =>
            setTimeout(() => {
              done = true;
              resolve();
            }, 20),
          ),
      },
    });
    expect(ok).toBe(true);
    expect(done).toBe(true);
  });
});

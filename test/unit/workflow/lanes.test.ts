import { describe, expect, it } from 'vitest';
import { play } from './workflow.ts';

const stage = (key: string, extra = '') => `{key: '${key}', agent: 'w', task: 't'${extra}}`;

describe('runs.lanes', () => {
  it('wf-57 first stages start together, then each lane goes on by itself', async () => {
    const execution = await play(
      `return await runs.lanes([{key: 'x', stages: [${stage('a')}, ${stage('b')}]}, {key: 'y', stages: [${stage('a')}, ${stage('b')}]}])`,
      {
        children: { 'y.a': 'open' },
        onLaunch: (call, all) => {
          if (call.key === 'x.b') all.find(({ key }) => key === 'y.a')?.settle({ ok: true, output: '', runId: 'late' });
        },
      },
    );
    expect(execution.keys).toEqual(['x.a', 'y.a', 'x.b', 'y.b']);
    expect(execution.value).toEqual([
      {
        key: 'x',
        state: 'complete',
        stages: [
          { key: 'a', state: 'completed', ok: true, runId: 'run-x.a' },
          { key: 'b', state: 'completed', ok: true, runId: 'run-x.b' },
        ],
      },
      {
        key: 'y',
        state: 'complete',
        stages: [
          { key: 'a', state: 'completed', ok: true, runId: 'late' },
          { key: 'b', state: 'completed', ok: true, runId: 'run-y.b' },
        ],
      },
    ]);
    expect(execution.trace[0]).toMatchObject({
      operation: 'run',
      key: 'x.a',
      state: 'started',
      generatedLaneKey: true,
    });
  });

  it('wf-58 failure, stop, detachment and a blocked verdict block their lane and skip the rest of it', async () => {
    const lanes = ['f', 's', 'd', 'b', 'ok'].map(
      (key) => `{key: '${key}', stages: [${stage('one')}, ${stage('two')}, ${stage('three')}]}`,
    );
    const { value, keys } = await play(`return await runs.lanes([${lanes.join(', ')}])`, {
      children: {
        'f.one': new Error('no agent'),
        's.two': { stopped: true, output: 'x' },
        'd.one': { detached: true, output: 'q' },
        'b.one': { ok: true, output: 'x', structuredOutput: { verdict: 'blocked' } },
      },
    });
    const board = value as { key: string; state: string; failedStage?: string; stages: { state: string }[] }[];
    expect(
      board.map(({ key, state, failedStage, stages }) => [key, state, failedStage, stages.map((row) => row.state)]),
    ).toEqual([
      ['f', 'blocked', 'one', ['failed', 'skipped', 'skipped']],
      ['s', 'blocked', 'two', ['completed', 'stopped', 'skipped']],
      ['d', 'blocked', 'one', ['detached', 'skipped', 'skipped']],
      ['b', 'blocked', 'one', ['blocked', 'skipped', 'skipped']],
      ['ok', 'complete', undefined, ['completed', 'completed', 'completed']],
    ]);
    expect(board[0]?.stages[1]).toEqual({ key: 'two', state: 'skipped' });
    expect(keys.filter((key) => key.startsWith('b.'))).toEqual(['b.one']);
  });

  it('wf-59 only the exact word blocks; the verdict is shown anyway', async () => {
    const verdicts = ['blocked', 'Blocked', ' blocked ', 'pass', 5];
    const lanes = verdicts.map((_, index) => `{key: 'l${index}', stages: [${stage('s')}]}`);
    const { value } = await play(`return await runs.lanes([${lanes.join(', ')}])`, {
      children: Object.fromEntries(
        verdicts.map((verdict, index) => [
          `l${index}.s`,
          { ok: true, output: 'I am blocked', structuredOutput: { verdict } },
        ]),
      ),
    });
    expect((value as { stages: unknown[] }[]).map(({ stages }) => stages[0])).toMatchObject([
      { state: 'blocked', verdict: 'blocked', error: expect.any(String) },
      { state: 'completed', verdict: 'Blocked' },
      { state: 'completed', verdict: 'blocked' },
      { state: 'completed', verdict: 'pass' },
      { state: 'completed' },
    ]);
  });

  it('wf-60 "previous" becomes the run id; without one that stage is blocked', async () => {
    const { value, launched } = await play(
      `return await runs.lanes([{key: 'x', stages: [${stage('a')}, {key: 'b', resume: 'previous', task: 'go on'}]}, {key: 'y', stages: [${stage('a')}, {key: 'b', resume: 'previous', task: 'go on'}, ${stage('c')}]}])`,
      { children: { 'y.a': { ok: true, output: 'x' } } },
    );
    expect(launched.find(({ key }) => key === 'x.b')?.params).toEqual({ resume: 'run-x.a', task: 'go on' });
    expect(launched.some(({ key }) => key.startsWith('y.b'))).toBe(false);
    expect((value as unknown[])[1]).toMatchObject({
      state: 'blocked',
      failedStage: 'b',
      stages: [{ state: 'completed' }, { state: 'blocked', error: expect.any(String) }, { state: 'skipped' }],
    });
  });

  const wrong: Record<string, string> = {
    'no array': '5',
    'an empty array': '[]',
    '33 lanes': `Array.from({length: 33}, (_, i) => ({key: 'l' + i, stages: [${stage('s')}]}))`,
    '17 stages': `[{key: 'l', stages: Array.from({length: 17}, (_, i) => ({key: 's' + i, agent: 'w', task: 't'}))}]`,
    '65 stages together': `Array.from({length: 13}, (_, l) => ({key: 'l' + l, stages: Array.from({length: 5}, (_, i) => ({key: 's' + i, agent: 'w', task: 't'}))}))`,
    'more than 64 KiB': `[{key: 'l', stages: [{key: 's', agent: 'w', task: 'x'.repeat(65536)}]}]`,
    'an unknown lane field': `[{key: 'l', stages: [${stage('s')}], more: 1}]`,
    'no stages': `[{key: 'l', stages: []}]`,
    'a stage key twice': `[{key: 'l', stages: [${stage('s')}, ${stage('s')}]}]`,
    'a generated key twice': `[{key: 'a', stages: [${stage('b.c')}]}, {key: 'a.b', stages: [${stage('c')}]}]`,
    'a key that gets too long': `[{key: 'l'.repeat(100), stages: [{key: 's'.repeat(30), agent: 'w', task: 't'}]}]`,
    'previous in the first stage': `[{key: 'l', stages: [{key: 's', resume: 'previous', task: 't'}]}]`,
    'a run id in the first stage': `[{key: 'l', stages: [{key: 's', resume: 'r1', task: 't'}]}]`,
    'a run id in a later stage': `[{key: 'l', stages: [${stage('s')}, {key: 't', resume: 'r1', task: 't'}]}]`,
    'previous with an agent': `[{key: 'l', stages: [${stage('s')}, {key: 't', resume: 'previous', agent: 'w', task: 't'}]}]`,
    'previous without a task': `[{key: 'l', stages: [${stage('s')}, {key: 't', resume: 'previous'}]}]`,
    'a launch that is wrong': `[{key: 'l', stages: [${stage('s', ', tasks: []')}]}]`,
    'a key that is in use with other parameters': `(await runs.run('l.s', {agent: 'w', task: 'other'}), [{key: 'l', stages: [${stage('s')}]}])`,
  };
  for (const [what, lanes] of Object.entries(wrong)) {
    it(`wf-61 ${what} throws before any launch`, async () => {
      const { error, keys } = await play(`await runs.lanes(${lanes})`);
      expect(error?.message).toContain('runs.lanes');
      expect(error?.kind).toBe('validation');
      expect(keys.filter((key) => key !== 'l.s' || !what.includes('in use'))).toEqual([]);
    });
  }

  it('wf-62 rows have no output text, and errors of at most 256 bytes', async () => {
    const long = 'ö'.repeat(400);
    const { value } = await play(
      `return await runs.lanes([{key: 'x', stages: [${stage('a')}]}, {key: 'y', stages: [${stage('a')}]}])`,
      {
        children: {
          'x.a': { ok: false, output: 'secret output', error: long, outputReference: `/${'p'.repeat(300)}` },
          'y.a': {
            ok: true,
            output: 'secret output',
            outputReference: '/short',
            structuredOutput: { verdict: 'v'.repeat(300) },
          },
        },
      },
    );
    const [x, y] = (value as { stages: { error?: string; outputReference?: string; verdict?: string }[] }[]).map(
      ({ stages }) => stages[0],
    );
    expect(Buffer.byteLength(x?.error ?? '')).toBeLessThanOrEqual(256);
    expect(x?.error).toMatch(/^ö+\.\.\.$/);
    expect(x?.outputReference).toBeUndefined();
    expect(y).toMatchObject({ outputReference: '/short', verdict: `${'v'.repeat(253)}...` });
    expect(JSON.stringify(value)).not.toContain('secret');
  });

  it('wf-63 lanes that nobody awaits list the generated keys', async () => {
    const { error } = await play(
      `runs.lanes([{key: 'x', stages: [${stage('a')}, ${stage('b')}]}, {key: 'y', stages: [${stage('a')}]}]); return 1`,
    );
    expect(error).toMatchObject({ kind: 'unawaited', message: expect.stringMatching(/'x\.a', 'y\.a'/) });
  });

  it('children of stages can be reused by their generated key', async () => {
    const { value, keys } = await play(
      `await runs.lanes([{key: 'x', stages: [${stage('a')}]}]); return (await runs.run('x.a', {agent: 'w', task: 't'})).output`,
    );
    expect(value).toBe('x.a done');
    expect(keys).toEqual(['x.a']);
  });
});

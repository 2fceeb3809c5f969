/** wf-82: what a receipt says of each key and command, and which receipts are believed. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { foldRun } from '../../src/core/runs/index.ts';
import type { WorkflowResult } from '../../src/core/workflow/index.ts';
import { type HostStepView, type RunView, toErrorValue } from '../../src/protocol/index.ts';
import { latestRunId, type Receipt, readReceipt, receiptOf } from '../../src/runner/workflow/receipts.ts';
import { tempDir } from '../support/temp.ts';
import { oneOfEach } from './builders/events.ts';
import { lines } from './builders/run.ts';
import { aWorkflow } from './builders/workflow.ts';

const folders = new AsyncDisposableStack();
afterAll(() => folders.disposeAsync());

const record = aWorkflow();
const { runId } = record;

function aView(keys: readonly string[], hosts: Partial<HostStepView>[] = []): RunView {
  const planned = oneOfEach['child.planned'];
  const session = { id: 's', file: '/s.jsonl' };
  const events = keys.map((key, at) => ({ ...planned, child: at + 1, key, lane: { version: 1 as const, key } }));
  const view = foldRun(record, lines(events));
  const children = view.children.map((child) => ({ ...child, session }));
  const host: HostStepView = {
    id: 1,
    key: 'ci',
    command: 'npm test',
    role: 'ci',
    state: 'passed',
    exitCode: 0,
    outputPath: '/out/ci.log',
    startedAt: 1,
    endedAt: 2,
    error: null,
  };
  const workflow = view.workflow && { ...view.workflow, hosts: hosts.map((over) => ({ ...host, ...over })) };
  return { ...view, children, ...(workflow ? { workflow } : {}) };
}

const result = (children: WorkflowResult['partialChildren'] = []): WorkflowResult => ({
  ok: true,
  trace: [],
  emits: [],
  console: [],
  abortedKeys: [],
  partialChildren: children,
  engine: { steps: 1, fuel: 1, heapBytes: 1 },
});

describe('a receipt', () => {
  it.each([
    ['saved', '/work/report.md'],
    ['kept', '/work/report.md'],
    ['failed', undefined],
    [null, undefined],
  ])('names the file of the workflow where there is one: %s', (outcome, reference) => {
    const { workflow, ...view } = aView([]);
    const output = { path: '/work/report.md', outcome, error: null };
    const made = receiptOf(
      { ...view, ...(workflow ? { workflow: { ...workflow, output } } : {}) },
      'complete',
      result(),
      5,
    );
    expect(made.outputReference).toBe(reference);
    expect(readReceipt(JSON.stringify(made), runId).outputReference).toBe(reference);
    expect(receiptOf(aView([]), 'complete', result(), 5)).not.toHaveProperty('outputReference');
  });

  it('has an entry for each child, settled or not, and is believed when it is read again', () => {
    const settled = {
      key: 'a',
      ok: true,
      output: 'x',
      artifactPaths: [],
      runId: `${runId}.1`,
      agent: 'worker',
      outputReference: '/out/a.md',
      resumability: { state: 'resumable' },
      continuation: { runIds: ['before', `${runId}.1`] },
    };
    const refused = { key: 'constructor', ok: false, output: 'no', error: 'no', artifactPaths: [] };
    const made = receiptOf(aView(['a', 'toString']), 'partial', result([settled, refused]), 5);
    expect(made.entries).toEqual({
      a: {
        key: 'a',
        agent: 'worker',
        outputReference: '/out/a.md',
        latestRunId: `${runId}.1`,
        resumability: { state: 'resumable' },
        continuation: { runIds: ['before', `${runId}.1`] },
      },
      constructor: {
        key: 'constructor',
        resumability: { state: 'not-resumable', reason: 'it was not started' },
        continuation: { runIds: [] },
      },
      toString: {
        key: 'toString',
        agent: oneOfEach['child.planned'].agent,
        latestRunId: `${runId}.2`,
        resumability: { state: 'resumable' },
        continuation: { runIds: [`${runId}.2`] },
        lane: { version: 1, key: 'toString' },
      },
    });
    expect(readReceipt(JSON.stringify(made), runId)).toEqual(made);
  });

  it('of a workflow that was stopped after its script could be told says what had ended, and what was stopped', () => {
    const view = aView(['done', 'at-work', 'went-on', 'went-on', 'bare']);
    const states = ['complete', 'running', 'paused', 'complete', 'failed'] as const;
    const children = view.children.map((child, at) => ({ ...child, state: states[at] ?? child.state }));
    const bare = children.map(({ session, ...child }) =>
      child.key === 'bare' ? { ...child, session: null } : { ...child, session },
    );
    const made = receiptOf({ ...view, children: bare }, 'stopped', { partialChildren: [] }, 5);
    expect(readReceipt(JSON.stringify(made), runId)).toEqual(made);
    expect(made.state).toBe('stopped');
    expect(
      Object.values(made.entries).map(({ key, latestRunId: latest, resumability, continuation }) => [
        key,
        latest,
        resumability,
        continuation.runIds,
      ]),
    ).toEqual([
      ['done', `${runId}.1`, { state: 'resumable' }, [`${runId}.1`]],
      ['at-work', `${runId}.2`, { state: 'not-resumable', reason: 'it was stopped' }, [`${runId}.2`]],
      ['went-on', `${runId}.4`, { state: 'resumable' }, [`${runId}.3`, `${runId}.4`]],
      ['bare', `${runId}.5`, { state: 'not-resumable', reason: 'it has no session file' }, [`${runId}.5`]],
    ]);
  });

  it.each<[string, Partial<HostStepView>, object]>([
    ['passed', {}, { state: 'done', verdict: 'pass', exitCode: 0, reportPath: '/out/ci.log', updatedAt: 2 }],
    ['failed', { state: 'failed', exitCode: 3 }, { state: 'error', reasonCode: 'command_failed', exitCode: 3 }],
    ['killed', { state: 'failed', exitCode: null }, { state: 'error', reasonCode: 'execution_failed' }],
    ['too late', { state: 'timed-out', exitCode: null }, { state: 'error', reasonCode: 'timed_out' }],
    ['stopped', { state: 'stopped', exitCode: null }, { state: 'cancelled', reasonCode: 'aborted' }],
    ['unknown', { state: 'unknown', exitCode: null }, { state: 'error', reasonCode: 'execution_failed' }],
  ])('has the evidence of a command that %s', (_, host, expected) => {
    const [step] = receiptOf(aView([], [host]), 'complete', result(), 5).hostSteps as Record<string, unknown>[];
    expect(step).toMatchObject({
      version: 1,
      kind: 'host-step',
      monitorKind: 'command',
      id: 'ci',
      role: 'ci',
      ...expected,
    });
    if (host.state !== undefined) expect(step).not.toHaveProperty('verdict');
    if (host.exitCode === null) expect(step).not.toHaveProperty('exitCode');
  });

  it('H20 bounds what a command can be called', () => {
    const key = 'k'.repeat(128);
    const error = { code: 'host_failed' as const, message: 'x'.repeat(500) };
    const hosts = [{ key, state: 'failed' as const, outputPath: `/${'p'.repeat(300)}`, error }];
    const [step] = receiptOf(aView([], hosts), 'failed', result(), 5).hostSteps as Record<string, string>[];
    expect([step?.['id'], step?.['label']?.length, step?.['detail']?.length]).toEqual([key, 80, 200]);
    expect(step).not.toHaveProperty('reportPath');
  });
});

const good = (): Receipt => ({
  version: 1,
  workflowRunId: runId,
  state: 'complete',
  createdAt: 1,
  entries: {
    a: {
      key: 'a',
      latestRunId: `${runId}.2`,
      resumability: { state: 'resumable' },
      continuation: { runIds: [`${runId}.1`, `${runId}.2`] },
      lane: { version: 1, key: 'a' },
    },
    b: { key: 'b', resumability: { state: 'not-resumable', reason: 'it was stopped' }, continuation: { runIds: [] } },
  },
  hostSteps: [],
});

describe('a receipt that is read', () => {
  const entry = (over: object): unknown => ({ ...good(), entries: { a: { ...good().entries['a'], ...over } } });

  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /it is not JSON/],
    ['another version', { ...good(), version: 2 }, /version/],
    ['of another workflow', { ...good(), workflowRunId: record.runId.replace(/.$/, 'z') }, /it is of/],
    ['of one that is not over', { ...good(), state: 'running' }, /state/],
    ['an entry under another key', entry({ key: 'z' }), /entry a is of z/],
    ['a stale entry', entry({ latestRunId: `${runId}.1` }), /stale/],
    ['resumable without a run', entry({ latestRunId: undefined, continuation: { runIds: [] } }), /no run to resume/],
    ['no reason', entry({ resumability: { state: 'not-resumable', reason: ' ' } }), /does not say why/],
    ['another lane', entry({ lane: { version: 1, key: 'z' } }), /another key/],
    ['more than 2 MiB', { ...good(), hostSteps: ['x'.repeat(2 * 1024 * 1024)] }, /\d+ bytes; 2097152 are read at most/],
  ])('is not believed: %s', (_, value, told) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    let error: unknown;
    try {
      readReceipt(text, runId);
    } catch (thrown) {
      error = thrown;
    }
    expect(toErrorValue(error)).toMatchObject({ code: 'receipt_unusable', message: expect.stringMatching(told) });
  });

  it('leads to the newest run of a key, or says why not', async () => {
    const runs = folders.use(await tempDir()).path;
    const folder = join(runs, runId);
    const find = (key: string, workflowRunId = runId) => latestRunId(runs, { workflowRunId, key, latest: true });
    await expect(find('a')).rejects.toMatchObject({ code: 'run_not_found' });
    await mkdir(folder);
    await writeFile(join(folder, 'run.json'), '{}');
    await expect(find('a')).rejects.toMatchObject({ code: 'receipt_unusable' });
    await writeFile(join(folder, 'receipt.json'), JSON.stringify(good()));
    expect(await find('a')).toBe(`${runId}.2`);
    expect(await find('a', ` ${runId} `)).toBe(`${runId}.2`);
    await expect(find('b')).rejects.toMatchObject({
      code: 'resume_refused',
      message: expect.stringContaining('stopped'),
    });
    await expect(find('c')).rejects.toMatchObject({ code: 'child_unknown', hint: 'It has: a, b.' });
    await expect(find('toString')).rejects.toMatchObject({ code: 'child_unknown' });
    for (const id of [`${runId}.1`, runId.slice(0, 8), '../x'])
      await expect(find('a', id)).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

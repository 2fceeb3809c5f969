/** A workflow as clients show it: what it does and still means to do. */
import { describe, expect, it } from 'vitest';
import { formatDetails, formatRow } from '../../src/cli/format.ts';
import type { RunSnapshot } from '../../src/client/index.ts';
import { foldRun, workflowChildren, workflowGraph } from '../../src/core/runs/index.ts';
import { type ChildView, NO_USAGE, type RunView, type WorkflowView } from '../../src/protocol/index.ts';
import { oneOfEach } from './builders/events.ts';
import { lines } from './builders/run.ts';
import { aWorkflow } from './builders/workflow.ts';

const planned = oneOfEach['child.planned'];

/** A workflow with these children, each with what the test cares about, and whatever else it has. */
function aView(
  children: readonly (Partial<ChildView> & { key: string })[],
  workflow: Partial<WorkflowView> = {},
  run: Partial<RunView> = {},
): RunView {
  const view = foldRun(
    aWorkflow(),
    lines([
      oneOfEach['run.proceeded'],
      ...children.map(({ key }, at) => ({ ...planned, child: at + 1, key, phase: null, lane: null, label: key })),
    ]),
  );
  const own = view.workflow;
  if (!own) throw new Error('it is a workflow');
  return {
    ...view,
    children: view.children.map((child, at) => ({ ...child, ...children[at] })),
    workflow: { ...own, ...workflow },
    ...run,
  };
}

const lanes: WorkflowView['lanes'] = [
  {
    key: 'north',
    stages: [
      { key: 'north.build', label: 'Build', agent: 'worker' },
      { key: 'north.review', label: null, agent: 'reviewer' },
    ],
  },
  { key: 'south', stages: [{ key: 'south.build', label: null, agent: 'worker' }] },
];

const host = {
  id: 9,
  key: 'ci',
  command: 'npm test',
  role: 'ci',
  exitCode: 0,
  outputPath: '/out/ci.log',
  startedAt: 1_000,
  endedAt: 4_000,
  error: null,
};

const shape = (view: RunView) =>
  workflowGraph(view)?.phases.map(
    ({ title, kind, state, nodes }) =>
      `${kind} ${title} ${state}: ${nodes.map(({ id, state: of }) => `${id} ${of}`).join(', ')}`,
  );

describe('the graph of a workflow', () => {
  it('has announced stages before anything of them has begun, and the order of the script', () => {
    expect(shape(aView([], { lanes }))).toEqual([
      'lane north queued: north.build queued, north.review queued',
      'lane south queued: south.build queued',
    ]);
  });

  it('has children in the place of their stages, the others by phase, and commands last', () => {
    const view = aView(
      [
        { key: 'survey', state: 'complete' },
        { key: 'north.build', state: 'complete' },
        { key: 'south.build', state: 'running' },
        { key: 'notes', state: 'queued', phaseLabel: 'wrap up' },
      ],
      { lanes, hosts: [{ ...host, state: 'passed' }] },
    );
    expect(shape(view)).toEqual([
      'lane north queued: north.build complete, north.review queued',
      'lane south running: south.build running',
      'agents agents complete: survey complete',
      'phase wrap up queued: notes queued',
      'commands commands complete: ci complete',
    ]);
    const [build] = workflowGraph(view)?.phases[0]?.nodes ?? [];
    expect(build).toEqual({
      id: 'north.build',
      kind: 'child',
      label: 'Build',
      agent: planned.agent,
      state: 'complete',
      child: 2,
      runId: `${view.runId}.2`,
    });
  });

  it('has what waits for its turn, among the agents without a phase, until the run is over', () => {
    const waiting = [
      { id: planned.id ?? 0, key: 'begun', step: 1 },
      { id: 77, key: 'third', step: 1 },
      { id: 78, key: 'north.build', step: 1 },
    ];
    const children = [{ key: 'begun', state: 'running' as const }];
    const view = aView(children, { lanes: lanes.slice(0, 1), waiting });
    expect(shape(view)).toEqual([
      'lane north queued: north.build queued, north.review queued',
      'agents agents running: begun running, third queued',
    ]);
    const snapshot: RunSnapshot = {
      runId: view.runId,
      directory: '/r',
      state: 'running',
      view,
      error: null,
      skipped: 0,
    };
    const text = formatDetails(snapshot, Date.now());
    expect(text).toMatch(/^ +third +queued$/m);
    expect(text).toMatch(/^ +north\.build +queued +worker$/m);
    expect(text).toMatch(/^ +north\.review +planned +reviewer$/m);
    expect(formatRow(snapshot, Date.now())).toContain('workflow 0/4');
    expect(shape(aView(children, { waiting }, { state: 'stopped' }))).toEqual(['agents agents running: begun running']);
  });

  it.each<[ChildView['state'], string]>([
    ['failed', 'failed'],
    ['partial', 'failed'],
    ['stopped', 'stopped'],
    ['paused', 'paused'],
  ])('skips what comes after a stage that is %s', (state, word) => {
    expect(shape(aView([{ key: 'north.build', state }], { lanes }))?.[0]).toBe(
      `lane north ${word}: north.build ${word}, north.review skipped`,
    );
  });

  it('shows a lane as blocked whose agent said so, when the run is over', () => {
    const view = aView([{ key: 'north.build', state: 'complete' }], { lanes }, { state: 'complete' });
    expect(shape(view)?.[0]).toBe('lane north blocked: north.build complete, north.review skipped');
  });

  it.each(['stopped', 'paused'] as const)('shows a lane as %s whose run was, before all of it was started', (state) => {
    const view = aView([{ key: 'north.build', state: 'complete' }], { lanes }, { state });
    expect(shape(view)?.[0]).toBe(`lane north ${state}: north.build complete, north.review skipped`);
  });

  it.each<[string, Partial<ChildView>]>([
    ['timed out', { state: 'paused', timedOut: true }],
    ['used up its tool calls', { state: 'complete', toolBudgetBlocked: true }],
    ['is silent', { state: 'running', attention: ['silent' as never] }],
    ['waits', { state: 'waiting' }],
  ])('shows as blocked what %s, before everything else', (_, child) => {
    const view = aView([
      { key: 'a', state: 'failed' },
      { key: 'b', ...child },
    ]);
    expect(shape(view)).toEqual(['agents agents blocked: a failed, b blocked']);
    expect(workflowGraph(view)?.bottleneck).toBe('b');
  });

  it('shows as blocked who has asked something', () => {
    const question = { id: 'q', child: 1, method: 'confirm', title: 'Sure?', message: '', options: [], expiresAt: 1 };
    expect(shape(aView([{ key: 'a', state: 'running' }], {}, { questions: [question] }))).toEqual([
      'agents agents blocked: a blocked',
    ]);
  });

  it('names what keeps it from its end, in the order of their weight', () => {
    const keys = (states: readonly ChildView['state'][]) =>
      workflowGraph(aView(states.map((state, at) => ({ key: `${at}-${state}`, state }))))?.bottleneck;
    expect(keys(['queued', 'stopped', 'paused', 'running', 'failed'])).toBe('4-failed');
    expect(keys(['queued', 'stopped', 'paused', 'running'])).toBe('3-running');
    expect(keys(['queued', 'stopped', 'paused'])).toBe('2-paused');
    expect(keys(['queued', 'stopped'])).toBe('1-stopped');
    expect(keys(['complete', 'queued'])).toBe('1-queued');
    expect(keys(['complete'])).toBeNull();
  });

  it('has a child that went on by itself once, as it is now', () => {
    const view = aView([
      { key: 'a', state: 'failed' },
      { key: 'b', state: 'complete' },
      { key: 'a', state: 'running' },
    ]);
    expect(shape(view)).toEqual(['agents agents running: a running, b complete']);
    expect(workflowChildren(view)?.children.map(({ childId, runId }) => [childId, runId])).toEqual([
      ['a', `${view.runId}.3`],
      ['b', `${view.runId}.2`],
    ]);
  });

  it.each<[WorkflowView['hosts'][number]['state'], string]>([
    ['asking', 'blocked'],
    ['unknown', 'blocked'],
    ['running', 'running'],
    ['denied', 'failed'],
    ['timed-out', 'failed'],
    ['stopped', 'stopped'],
  ])('shows a command that is %s as %s', (state, word) => {
    expect(shape(aView([], { hosts: [{ ...host, state }] }))).toEqual([`commands commands ${word}: ci ${word}`]);
  });
});

describe('the list of children', () => {
  it('is complete when the run is over, and then nobody is at work', () => {
    const children = [
      { key: 'a', state: 'complete' as const },
      { key: 'b', state: 'running' as const, tool: 'bash', model: 'fake/scripted', thinking: 'high' },
      { key: 'c', state: 'queued' as const },
    ];
    expect(workflowChildren(aView(children))).toMatchObject({
      version: 1,
      inventoryComplete: false,
      workflowState: 'running',
      children: [
        { childId: 'a', state: 'completed' },
        { childId: 'b', state: 'running', model: 'fake/scripted', thinking: 'high', activity: 'bash' },
        { childId: 'c', state: 'pending' },
      ],
    });
    const states = (state: RunView['state']) =>
      workflowChildren(aView(children, {}, { state }))?.children.map((row) => row.state);
    expect(states('failed')).toEqual(['completed', 'failed', 'failed']);
    expect(states('stopped')).toEqual(['completed', 'stopped', 'stopped']);
  });

  it('bounds what a child can be called, in bytes and between characters', () => {
    const row = workflowChildren(aView([{ key: 'a', model: 'ä'.repeat(200), thinking: 'x'.repeat(40) }]))?.children[0];
    expect(Buffer.byteLength(row?.model ?? '')).toBe(256);
    expect(row?.thinking).toHaveLength(32);
  });
});

describe('on a terminal', () => {
  const snapshot = (view: RunView): RunSnapshot => ({
    runId: view.runId,
    directory: '/runs/x',
    state: view.state,
    view,
    error: view.error,
    skipped: 0,
  });
  const usage = { ...NO_USAGE, input: 1_500, output: 500, cost: 0.02 };

  it('a workflow has its agents, what is planned, and its commands, each in a line', () => {
    const view = aView(
      [
        { key: 'north.build', state: 'complete', model: 'fake/scripted', usage, startedAt: 0, endedAt: 12_000 },
        { key: 'notes', state: 'running', tool: 'bash', startedAt: 10_000 },
      ],
      {
        lanes,
        hosts: [{ ...host, state: 'failed', exitCode: 2, error: { code: 'host_failed', message: 'It failed.' } }],
        continued: 1,
      },
    );
    const text = formatDetails(snapshot(view), 70_000);
    expect(text).toContain('workflow   harbour.workflow.js');
    expect(text).toContain('limits     64 agents, 20 at the same time');
    expect(text).toContain('continued  once');
    const inside = text
      .slice(text.indexOf('inside'), text.indexOf('\nfiles'))
      .split('\n')
      .map((line) => line.trim().replace(/\s{2,}/g, '  '));
    expect(inside).toEqual([
      'inside  lane north: queued',
      `north.build  complete  ${planned.agent}  fake/scripted  2.0k  $0.02  12s`,
      'north.review  planned  reviewer',
      'lane south: queued',
      'south.build  planned  worker',
      'agents',
      `notes  running  ${planned.agent}  ${planned.model ?? ''}  0  $0  1m 00s  bash`.replace(/\s{2,}/g, '  '),
      'commands',
      'ci  failed  npm test; exit code 2; It failed.; /out/ci.log  3s',
    ]);
    expect(text).not.toContain('\nagent ');
    expect(text).not.toContain('\nprocesses ');
    expect(formatDetails({ ...snapshot(view), state: 'lost' }, 70_000)).toContain('processes  not proven gone');
  });

  it('a question has the command that answers it, what was said to whom stands beside it, and lines stay in their column', () => {
    const ask = { child: null, title: 'Run this command?', options: [], expiresAt: 0 };
    const said = { mode: 'steer', reason: null, at: 0 } as const;
    const view = aView(
      [{ key: 'notes', state: 'running' }],
      { continued: 2 },
      {
        questions: [
          { ...ask, id: 'host-1', method: 'confirm', message: 'npm test\n\n(check)' },
          { ...ask, id: 'q-2', method: 'select', title: 'Which?', message: '', options: ['north', 'south'] },
        ],
        steering: [{ ...said, requestId: 'r', child: 1, preview: 'Be brief', state: 'delivered' }],
        error: { code: 'workflow_failed', message: 'one\ntwo' },
      },
    );
    const text = formatDetails(snapshot(view), 70_000);
    const at = ' '.repeat(11);
    expect(text).toContain(
      [
        'asks       Run this command? npm test',
        `${at}  (check)`,
        `${at}  pi-lanes answer ${view.runId} host-1 --yes | --no`,
        `${at}Which?`,
        `${at}  One of: north, south`,
        `${at}  pi-lanes answer ${view.runId} q-2 --value TEXT | --cancel`,
        'steering   delivered (notes): Be brief',
        `error      one\n${at}two`,
      ].join('\n'),
    );
    expect(text).toContain('continued  2 times');
  });

  it('what it returned stands there in one line, cut where it is long, with the file that has it all', () => {
    const view = aView([]);
    const text = (ok: boolean, value: unknown) =>
      formatDetails(snapshot(view), 0, { ok, value, file: '/r/result.json' });
    expect(text(true, { fixes: [1] })).toContain('returned   {"fixes":[1]}\nresult     /r/result.json');
    expect(text(true, undefined)).toContain('returned   null\n');
    expect(text(true, 'x'.repeat(600))).toMatch(/^returned {3}"x{499}… \(cut\)$/m);
    expect(text(false, undefined)).not.toContain('returned');
    expect(text(false, undefined)).toContain('result     /r/result.json');
    expect(formatDetails(snapshot(view))).not.toMatch(/^(?:returned|result) /m);
  });

  it('a list shows how far it is', () => {
    const view = aView(
      [
        { key: 'north.build', state: 'complete' },
        { key: 'notes', state: 'running' },
      ],
      { lanes },
    );
    expect(formatRow(snapshot(view))).toContain('workflow 1/4');
    expect(formatRow(snapshot(aView([])))).toMatch(/ {2}workflow {3}/);
  });

  it('limits that are set are all told', () => {
    const bounds = {
      limits: {
        globalConcurrencyLimit: 2,
        maxSubagentSpawnsPerRun: 5,
        usageBudget: { tokens: { hard: 1_000 }, costUsd: { hard: 2 } },
      },
      timeoutMs: 60_000,
    };
    expect(formatDetails(snapshot(aView([], { bounds })))).toContain(
      'limits     5 agents, 2 at the same time, 1000 tokens, $2.00, 1m 00s',
    );
  });
});

/** What the journal of a workflow says of it, as clients see it. */
import { describe, expect, it } from 'vitest';
import { foldRun } from '../../src/core/runs/index.ts';
import { type JournalEvent, runView } from '../../src/protocol/index.ts';
import { oneOfEach } from './builders/events.ts';
import { lines } from './builders/run.ts';
import { aWorkflow } from './builders/workflow.ts';

const fold = (...events: JournalEvent[]) => foldRun(aWorkflow(), lines(events));

describe('a workflow', () => {
  it('begins with its name and without children', () => {
    expect(fold()).toMatchObject({
      mode: 'workflow',
      agent: 'workflow',
      title: 'harbour.workflow.js',
      children: [],
      workflow: { name: 'harbour.workflow.js', steps: 0, continued: 0, failure: null },
    });
  });

  it('has a file of its own, which is open again when it goes on', () => {
    const path = '/work/report.md';
    const foldOf = (...events: JournalEvent[]) => foldRun(aWorkflow({ output: path }), lines(events));
    const output = (...events: JournalEvent[]) => {
      const view = foldOf(...events);
      expect(runView.parse(JSON.parse(JSON.stringify(view)))).toEqual(view);
      expect(view.children).toEqual([]);
      return view.workflow?.output;
    };
    const claimed: JournalEvent = { type: 'output.claimed', path, before: null };
    const settled: JournalEvent = { type: 'output.settled', path, outcome: 'failed', bytes: 0, error: 'no rights' };
    expect(fold().workflow).not.toHaveProperty('output');
    expect(output()).toEqual({ path, outcome: null, error: null });
    expect(output(claimed)).toEqual({ path, outcome: null, error: null });
    expect(output(claimed, settled)).toEqual({ path, outcome: 'failed', error: 'no rights' });
    expect(output(claimed, settled, oneOfEach['run.continued'])).toEqual({ path, outcome: null, error: null });
  });

  it('has the children that are planned, and each works for itself', () => {
    const planned = oneOfEach['child.planned'];
    const view = fold(planned, { ...planned, child: 3, key: 'build' }, { ...oneOfEach['child.settled'], child: 3 });
    expect(view.children.map(({ index, key, state }) => [index, key, state])).toEqual([
      [2, 'survey', 'queued'],
      [3, 'build', oneOfEach['child.settled'].state],
    ]);
    expect(view.usage).toEqual(oneOfEach['child.settled'].usage);
  });

  it('of which one child is to end goes on itself; nothing takes a stop back', () => {
    const { 'child.planned': planned, 'control.requested': asked } = oneOfEach;
    const wish = (action: 'stop' | 'interrupt', child: number): JournalEvent => ({ ...asked, action, child });
    const view = fold(planned, { ...planned, child: 3 }, wish('interrupt', 2), wish('stop', 3), wish('interrupt', 3));
    expect(view.children.map(({ index, endRequested }) => [index, endRequested])).toEqual([
      [2, 'interrupt'],
      [3, 'stop'],
    ]);
    expect(view).toMatchObject({ stopRequested: false, interruptRequested: false });
  });

  it('counts what the script did, and keeps its lanes and commands', () => {
    const { workflow } = fold(
      oneOfEach['workflow.said'],
      oneOfEach['workflow.planned'],
      oneOfEach['workflow.stepped'],
      oneOfEach['host.intended'],
      oneOfEach['host.ended'],
      oneOfEach['workflow.ended'],
    );
    expect(workflow).toMatchObject({
      emits: 2,
      console: 1,
      steps: 3,
      lanes: [{ key: 'north' }],
      hosts: [{ id: 4, key: 'ci', state: 'passed', exitCode: 0, outputPath: '/out/ci.log' }],
      failure: { kind: 'script', message: 'It threw.' },
    });
  });

  it('that is continued after its end is the same run again, without what it had come to', () => {
    const over = [oneOfEach['run.proceeded'], oneOfEach['workflow.ended'], oneOfEach['run.ended']] as const;
    expect(fold(...over).state).toBe('failed');
    expect(fold(...over, oneOfEach['run.continued'])).toMatchObject({
      state: 'running',
      endedAt: null,
      error: null,
      workflow: { continued: 1, failure: null },
    });
  });

  it('is a workflow whose command waits for consent, and was not allowed, and was asked for anew', () => {
    const host = { id: 4, key: 'ci', command: 'npm test', role: 'ci' };
    const asked: JournalEvent = { ...oneOfEach['question.asked'], child: null, method: 'confirm', host };
    const { 'run.proceeded': begun, 'question.answered': answered, 'question.expired': expired } = oneOfEach;
    const hosts = (...events: JournalEvent[]) => fold(begun, asked, ...events).workflow?.hosts;
    expect(fold(begun, asked)).toMatchObject({ state: 'waiting', questions: [{ child: null, host }] });
    expect(hosts()).toEqual([expect.objectContaining({ ...host, state: 'asking', endedAt: null })]);
    expect(hosts({ ...answered, answer: 'no' })).toEqual([expect.objectContaining({ id: 4, state: 'denied' })]);
    expect(hosts(expired)).toEqual([expect.objectContaining({ id: 4, state: 'denied' })]);
    expect(hosts({ ...answered, answer: 'yes' }, oneOfEach['host.intended'])).toEqual([
      expect.objectContaining({ id: 4, state: 'running' }),
    ]);
    // The runner that asked is gone, or the run has ended: nobody waits for the answer any more.
    expect(hosts(oneOfEach['recovery.begun'])).toEqual([]);
    expect(hosts(oneOfEach['run.ended'])).toEqual([]);
  });
});

describe('a step that is told again', () => {
  const delivered = (step: number): JournalEvent => ({ ...oneOfEach['workflow.delivered'], step });
  const said = (step: number, emits: number): JournalEvent => ({
    ...oneOfEach['workflow.said'],
    step,
    emits: Array.from({ length: emits }, () => ({ json: '1' })),
  });
  const planned = (step: number, ...keys: string[]): JournalEvent => ({
    type: 'workflow.planned',
    step,
    lanes: keys.map((key) => ({ key, stages: [] })),
  });
  const stepped = (step: number, more?: true): JournalEvent => ({
    ...oneOfEach['workflow.stepped'],
    step,
    ...(more ? { more } : {}),
  });
  const three = [
    ...[delivered(1), said(1, 2), planned(1, 'north'), stepped(1)],
    ...[delivered(2), said(2, 1), said(2, 3), planned(2, 'south', 'east'), stepped(2, true), stepped(2)],
    ...[delivered(3), said(3, 5), stepped(3)],
  ];
  const told = (...events: JournalEvent[]) => {
    const { steps, emits, console: printed, lanes } = fold(...three, ...events).workflow ?? { lanes: [] };
    return { steps, emits, console: printed, lanes: lanes.map(({ key }) => key) };
  };
  const whole = { steps: 3, emits: 11, console: 4, lanes: ['north', 'south', 'east'] };

  it('replaces what it told before, and all later steps', () => {
    expect(told()).toEqual(whole);
    expect(told(delivered(2), said(2, 1), planned(2, 'west'), stepped(2))).toEqual({
      steps: 2,
      emits: 3,
      console: 2,
      lanes: ['north', 'west'],
    });
  });

  it('does so when its answers are not delivered again', () => {
    expect(told(said(2, 1), said(2, 1), planned(2, 'west'), stepped(2))).toEqual({
      steps: 2,
      emits: 4,
      console: 3,
      lanes: ['north', 'west'],
    });
    expect(told(planned(1, 'west'), stepped(1))).toEqual({ steps: 1, emits: 0, console: 0, lanes: ['west'] });
    // This time it says nothing, and asks for much.
    const nothing = { steps: 2, emits: 2, console: 1, lanes: ['north'] };
    expect(told(stepped(2))).toEqual(nothing);
    expect(told(stepped(2, true), stepped(2))).toEqual(nothing);
  });

  it('does so when the runner died before it had told the whole', () => {
    expect(told(delivered(4), said(4, 7), planned(4, 'west'), oneOfEach['runner.started'])).toEqual(whole);
    const again = [delivered(4), said(4, 7), oneOfEach['runner.started'], said(4, 1), stepped(4)];
    expect(told(...again)).toEqual({ ...whole, steps: 4, emits: 12, console: 5 });
  });
});

describe('launches that wait for their turn', () => {
  const launch = (id: number) => ({ id, type: 'launch' as const, key: `k${id}`, asked: 'f' });
  const stepped = (step: number, ids: number[], queue?: { added: number[]; length: number }): JournalEvent => ({
    ...oneOfEach['workflow.stepped'],
    step,
    asks: ids.map(launch),
    ...(queue ? { queue } : {}),
  });
  const waiting = (...events: JournalEvent[]) => fold(...events).workflow?.waiting.map(({ key }) => key);

  it('are known by key, first come, first served, until nobody waits', () => {
    const first = stepped(1, [1, 2, 3, 4], { added: [2, 3, 4], length: 3 });
    expect(waiting(first)).toEqual(['k2', 'k3', 'k4']);
    expect(waiting(first, stepped(2, [5], { added: [5], length: 3 }))).toEqual(['k3', 'k4', 'k5']);
    expect(waiting(first, stepped(2, [5]))).toEqual([]);
  });

  it('are those of a step in parts as well', () => {
    const parts = [
      { ...oneOfEach['workflow.stepped'], step: 1, asks: [launch(1), launch(2)], more: true as const },
      stepped(1, [3], { added: [2, 3], length: 2 }),
    ];
    expect(waiting(...parts)).toEqual(['k2', 'k3']);
  });

  it('are those that are told last, when a step is told again', () => {
    const first = stepped(1, [1, 2], { added: [2], length: 1 });
    const second = stepped(2, [3, 4], { added: [3, 4], length: 3 });
    expect(waiting(first, second)).toEqual(['k2', 'k3', 'k4']);
    expect(waiting(first, second, oneOfEach['runner.started'])).toEqual(['k2', 'k3', 'k4']);
    expect(waiting(first, second, stepped(2, [3], { added: [3], length: 2 }))).toEqual(['k2', 'k3']);
  });
});

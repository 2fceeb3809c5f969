/** What the journal of a workflow says of it, as clients see it. */
import { describe, expect, it } from 'vitest';
import { foldRun } from '../../src/core/runs/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
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

  it('has the children that are planned, and each works for itself', () => {
    const planned = oneOfEach['child.planned'];
    const view = fold(planned, { ...planned, child: 3, key: 'build' }, { ...oneOfEach['child.settled'], child: 3 });
    expect(view.children.map(({ index, key, state }) => [index, key, state])).toEqual([
      [2, 'survey', 'queued'],
      [3, 'build', oneOfEach['child.settled'].state],
    ]);
    expect(view.usage).toEqual(oneOfEach['child.settled'].usage);
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
});

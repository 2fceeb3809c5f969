/** Which child of a workflow somebody means. */
import { describe, expect, it } from 'vitest';
import { childNamed } from '../../src/client/index.ts';
import { foldRun } from '../../src/core/runs/index.ts';
import { type ErrorValue, type JournalEvent, toErrorValue } from '../../src/protocol/index.ts';
import { oneOfEach } from './builders/events.ts';
import { lines } from './builders/run.ts';
import { aWorkflow } from './builders/workflow.ts';

const view = (...keys: string[]) =>
  foldRun(
    aWorkflow(),
    lines(keys.map((key, index): JournalEvent => ({ ...oneOfEach['child.planned'], child: index + 1, key }))),
  );

function refused(name: string, ...keys: string[]): ErrorValue {
  try {
    childNamed(view(...keys), name);
  } catch (error) {
    return toErrorValue(error);
  }
  throw new Error('it was found');
}

describe('a child', () => {
  it('is meant by its key', () => {
    expect(childNamed(view('survey', 'build'), ' build ').index).toBe(2);
  });

  it('is the newest of its key, when it went on by itself', () => {
    expect(childNamed(view('survey', 'build', 'survey'), 'survey').index).toBe(3);
  });

  it('is meant by its run id, and not by that of another run', () => {
    const found = view('survey', 'build');
    expect(childNamed(found, `${found.runId}.2`).key).toBe('build');
    const other = `${found.runId.slice(0, -1)}${found.runId.endsWith('0') ? '1' : '0'}.2`;
    expect(() => childNamed(found, other)).toThrow('no agent');
  });

  it('is meant by its number, unless a key is the same', () => {
    expect(childNamed(view('survey', 'build'), '2').key).toBe('build');
    expect(childNamed(view('survey', '1'), '1').index).toBe(2);
    expect(refused('3', 'survey', 'build')).toMatchObject({ code: 'child_unknown' });
    expect(refused('01', 'survey')).toMatchObject({ code: 'child_unknown' });
  });

  it('that is not there is refused with the key that may have been meant, and those there are', () => {
    expect(refused('suvrey', 'survey', 'build')).toMatchObject({
      code: 'child_unknown',
      message: expect.stringContaining('"suvrey"'),
      hint: expect.stringMatching(/mean "survey".*survey, build/),
    });
    expect(refused('deploy', 'survey', 'build').hint).toBe('It has: survey, build.');
    expect(refused('deploy').hint).toMatch(/started none yet/);
  });

  it('that is a stage which has not begun, or never will, is refused as that', () => {
    const stages = ['build', 'review'].map((key) => ({ key: `north.${key}`, label: null, agent: 'worker' }));
    const found = view('north.build');
    const run = found.workflow && { ...found, workflow: { ...found.workflow, lanes: [{ key: 'north', stages }] } };
    if (!run) throw new Error('it is a workflow');
    const named = (one: typeof run) => () => childNamed(one, 'north.review');
    expect(named(run)).toThrow('The agent "north.review" has not been started yet.');
    const stopped = run.children.map((child) => ({ ...child, state: 'stopped' as const }));
    expect(named({ ...run, children: stopped })).toThrow('"north.review" was never started: its lane ended');
  });
});

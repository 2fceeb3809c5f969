/** The workflows that come with Pi Lanes: what each takes, what it may run, and that its script is in order. */
import { describe, expect, it } from 'vitest';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { NAMED_WORKFLOWS, namedWorkflow } from '../../src/core/workflow/index.ts';
import { type ErrorValue, toErrorValue } from '../../src/protocol/index.ts';

function refused(name: string, args?: unknown): ErrorValue {
  try {
    namedWorkflow(name, args);
  } catch (error) {
    return toErrorValue(error);
  }
  throw new Error('it was taken');
}

describe('wf-88 a workflow by its name', () => {
  it('wf-88 review is one reviewer and runs no command', () => {
    expect(namedWorkflow(' review ', { task: 'Look.' })).toMatchObject({
      args: { task: 'Look.' },
      grants: [],
      resource: {
        kind: 'workflow',
        name: 'review',
        version: 1,
        invocation: 'named',
        expansion: 'resolved',
        id: 'review@1',
      },
    });
  });

  it.each<[unknown, string, number]>([
    [undefined, 'npm test', 120_000],
    [{ command: 'npm run typecheck', timeoutMs: 86_400_000 }, 'npm run typecheck', 86_400_000],
  ])('run-ci may run exactly its command: %j', (args, command, timeoutMs) => {
    expect(namedWorkflow('run-ci', args)).toMatchObject({
      args: { command, timeoutMs },
      grants: [{ key: 'ci', command }],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['review', undefined, /task/],
    ['review', { task: ' ' }, /must not be blank/],
    ['review', { task: 'x', model: 'y' }, /model/],
    ['review', { task: 'x'.repeat(16 * 1024) }, /at most 16384/],
    ['review', 'x', /object/],
    ['run-ci', { command: 'npm test; rm -rf .' }, /command/],
    ['run-ci', { timeoutMs: 0 }, /timeoutMs/],
    ['run-ci', { timeoutMs: 86_400_001 }, /timeoutMs/],
    ['run-ci', { cwd: '/' }, /cwd/],
  ])('%s is refused with arguments that do not fit: %j', (name, args, told) => {
    expect(refused(name, args)).toMatchObject({ code: 'launch_invalid', message: expect.stringMatching(told) });
  });

  it.each(['deploy', 'constructor', '__proto__', ''])('of another name is refused with those there are: %j', (name) => {
    expect(refused(name)).toMatchObject({ code: 'launch_invalid', hint: expect.stringContaining('review, run-ci') });
  });

  it.each(NAMED_WORKFLOWS)('%s has a script without a finding', (name) => {
    const { script } = namedWorkflow(name, name === 'review' ? { task: 'x' } : {});
    expect(analyseScript(script).findings).toEqual([]);
  });
});

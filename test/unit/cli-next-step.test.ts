/** What the command line tells people to do next can be done there. */
import { describe, expect, it } from 'vitest';
import { nextStep, withNextStep } from '../../src/cli/next-step.ts';
import { COMMANDS, takesRun } from '../../src/cli/usage.ts';
import { ERROR_TEXTS, type ErrorText } from '../../src/protocol/error-texts/index.ts';
import { describeError } from '../../src/protocol/index.ts';

const texts = Object.entries<ErrorText>(ERROR_TEXTS);
/** Commands, buttons and views that there are in the editor alone. */
const EDITOR_ONLY =
  /\bForce Stop\b|\bRuns view\b|\bProblems view\b|\bpalette\b|\bUse (?:Stop|Resume|Steer)\b|\bResume (?:goes|continues|it|the run)\b|\b(?:or|and) resume\b|; Stop\b|\bSteer it\b/i;

describe('the next step on a command line', () => {
  it.each(texts)('%s names nothing that only the editor has', (_, { hint, cli = hint }) => {
    expect(cli ?? '').not.toMatch(EDITOR_ONLY);
  });

  it.each(texts.filter(([, { cli }]) => cli !== undefined))('%s names commands that there are', (_, { cli = '' }) => {
    const named = [...cli.matchAll(/pi-lanes ([a-z-]+)/g)].map(([, command]) => command ?? '');
    expect(named.length).toBeGreaterThan(0);
    expect(COMMANDS).toEqual(expect.arrayContaining(named));
  });

  it('names the run that is meant, where it is known', () => {
    const error = describeError('runner_unreachable:silent');
    expect(nextStep(error, 'last')).toBe('If this lasts, use `pi-lanes force-stop last`.');
    expect(nextStep(error)).toBe('If this lasts, use `pi-lanes force-stop RUN`.');
  });

  it('keeps what fills its places, and the rest of the error', () => {
    const error = describeError('result_unsaved:session', { reason: 'EROFS', session: '/s.jsonl' });
    expect(withNextStep(error, '$& 12345678')).toEqual({
      ...error,
      hint: 'Make the folder writable. The answer stands in the transcript and in /s.jsonl; `pi-lanes resume $& 12345678` goes on with it.',
    });
  });

  it('is that of everybody where everybody can take it, and nothing where there is none', () => {
    const known = describeError('launch_invalid:no-agent');
    expect(withNextStep(known)).toEqual(known);
    expect(nextStep({ code: 'internal', message: 'x' })).toBeUndefined();
  });

  it('knows which commands are about a run', () => {
    expect(COMMANDS.filter(takesRun)).toEqual([
      'continue',
      'status',
      'transcript',
      'stop',
      'steer',
      'answer',
      'interrupt',
      'resume',
      'force-stop',
      'apply',
      'branch',
      'restore',
    ]);
  });
});

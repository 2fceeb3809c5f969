/** Errors as the editor words them: translated where they are of the catalogue, as they came where they are not. */
import { beforeEach, expect, it, vi } from 'vitest';
import { describeError, withDetail } from '../../../src/protocol/index.ts';

const translate = vi.hoisted(() => vi.fn());
vi.mock('vscode', () => ({ l10n: { t: translate } }));

const { errorWords, translatedError } = await import('../../../src/extension/error-words.ts');

beforeEach(() => {
  translate.mockImplementation((text: string, params?: object) => `${text} ${JSON.stringify(params ?? {})}`);
});

it('message and hint are translated with the parameters', () => {
  expect(errorWords(describeError('agent_unknown', { name: 'x', known: 'worker' }))).toEqual({
    message: 'There is no agent named "{name}". {"name":"x","known":"worker"}',
    hint: 'Agents here: {known}. {"name":"x","known":"worker"}',
  });
});

it('what was printed stays behind the translated text', () => {
  const error = withDetail(describeError('child_exited:code', { code: 3 }), '\nLast lines:\nboom');
  expect(errorWords(error).message).toBe(
    'The child exited with code {code} before it was done. {"code":3}\nLast lines:\nboom',
  );
});

it('the state of a run is worded as everywhere else', () => {
  const { message } = errorWords(describeError('run_not_running:steer', { state: 'complete' }));
  expect(message).toBe('The run has ended: it is {state}. {"state":"complete {}"}');
});

it('for a page is the same error in other words', () => {
  translate.mockImplementation((text: string) => `de: ${text}`);
  const error = describeError('transcript_unreadable:no-reader');
  expect(translatedError(error)).toEqual({ ...error, message: `de: ${error.message}`, hint: `de: ${error.hint}` });
  const { hint: _, ...without } = describeError('child_exited:aborted');
  expect(translatedError(without)).toEqual({ ...without, message: `de: ${without.message}` });
});

it('what is not of the catalogue keeps its words', () => {
  const error = { code: 'internal', message: 'too far', hint: 'Go back.' } as const;
  expect(errorWords(error)).toEqual({ message: 'too far', hint: 'Go back.' });
  expect(errorWords({ ...error, text: 'of:a newer version', params: {} })).toEqual({
    message: 'too far',
    hint: 'Go back.',
  });
});

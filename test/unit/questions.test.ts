/** Dialogs of a child that wait for a person. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChildQuestion } from '../../src/core/children/index.ts';
import type { Owner, QuestionAnswer } from '../../src/protocol/index.ts';
import { QUESTION_MS, Questions } from '../../src/runner/questions.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { waitFor } from '../support/wait-for.ts';
import { FakeChild } from './builders/child.ts';
import { someone } from './builders/events.ts';
import { openRun, type RunAtWork } from './builders/open-run.ts';
import { secrets } from './builders/secrets.ts';

let folder: TempDir;
let work: RunAtWork;
let child: FakeChild;
let questions: Questions;

beforeEach(async () => {
  folder = await tempDir({ name: 'awkward' });
  work = await openRun(folder.path);
  child = new FakeChild();
  questions = new Questions(work.run, 1);
});

afterEach(async () => {
  vi.restoreAllMocks();
  // Timers of questions would outlive their test.
  await questions.close();
  await work.run.end('complete', null);
  await folder.remove();
});

const aQuestion = (over: Partial<ChildQuestion> = {}): ChildQuestion => ({
  id: 'q',
  method: 'select',
  title: 'Which?',
  message: 'Pick a gate.',
  options: ['north', 'south'],
  ...over,
});
const answer = (value: QuestionAnswer, questionId = 'q', by: Owner = someone) =>
  questions.answer({ questionId, by, answer: value });

describe('a question', () => {
  it('is written down for everybody, and the run waits', async () => {
    const from = Date.now();
    await questions.ask(child, aQuestion());
    const [asked, ...more] = await work.journal();
    expect(asked).toEqual({
      type: 'question.asked',
      questionId: 'q',
      child: 1,
      method: 'select',
      title: 'Which?',
      message: 'Pick a gate.',
      options: ['north', 'south'],
      expiresAt: expect.any(Number),
    });
    expect(more).toEqual([]);
    const { state, questions: open } = work.run.view;
    expect(state).toBe('waiting');
    expect(QUESTION_MS).toBe(10 * 60_000);
    expect(open[0]?.expiresAt).toBeGreaterThanOrEqual(from + QUESTION_MS);
    expect(open[0]?.expiresAt).toBeLessThanOrEqual(Date.now() + QUESTION_MS);
    expect(child.answers).toEqual([]);
  });

  it('has its own limit, where the child has one', async () => {
    const from = Date.now();
    await questions.ask(child, aQuestion({ timeoutMs: 90_000 }));
    const expiresAt = work.run.view.questions[0]?.expiresAt ?? 0;
    expect(expiresAt).toBeGreaterThanOrEqual(from + 90_000);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 90_000);
  });

  it('is shown without tokens, and cut to what fits', async () => {
    const { text, secret } = secrets['a GitHub token'] ?? { text: '', secret: '' };
    const options = Array.from({ length: 60 }, (_, i) => `${i} ${'x'.repeat(300)}`);
    await questions.ask(child, aQuestion({ title: `Use ${text}?`, message: 'y'.repeat(5_000), options }));
    const [open] = work.run.view.questions;
    expect(JSON.stringify(await work.journal())).not.toContain(secret);
    expect(open?.title).toMatch(/^Use .*\[redacted\]\?$/);
    expect(open?.message).toBe('y'.repeat(4_000));
    expect(open?.options).toEqual(options.slice(0, 50).map((option) => option.slice(0, 200)));
  });

  it('that cannot be written down is not waited for, and breaks nothing', async () => {
    // Each of these characters takes six bytes in the journal.
    const options = Array.from({ length: 50 }, () => '\u0001'.repeat(200));
    await questions.ask(child, aQuestion({ message: '\u0001'.repeat(4_000), options }));
    expect(child.answers).toEqual([['q', { cancelled: true }]]);
    expect(await answer({ value: 'north' })).toMatchObject({ accepted: false });
    expect(await work.journal()).toEqual([]);
    await questions.ask(child, aQuestion({ id: 'next' }));
    expect(work.run.view.questions.map(({ id }) => id)).toEqual(['next']);
  });
});

describe('an answer', () => {
  it('goes to the child, and stands in the journal with who gave it', async () => {
    await questions.ask(child, aQuestion());
    expect(await answer({ value: 'south' })).toEqual({ accepted: true, reason: null });
    expect(child.answers).toEqual([['q', { value: 'south' }]]);
    expect((await work.journal()).at(-1)).toEqual({
      type: 'question.answered',
      questionId: 'q',
      by: someone,
      answer: 'south',
    });
    expect(work.run.view).toMatchObject({ state: 'running', questions: [] });
  });

  it.each<[string, QuestionAnswer, string]>([
    ['confirm', { confirmed: true }, 'yes'],
    ['confirm', { confirmed: false }, 'no'],
    ['confirm', { cancelled: true }, 'cancelled'],
    ['select', { cancelled: true }, 'cancelled'],
    ['input', { value: '' }, ''],
    ['editor', { value: 'yes' }, 'yes'],
  ])('to a question of kind %s, %j reads as "%s" and reaches the child unchanged', async (method, given, text) => {
    await questions.ask(child, aQuestion({ method, options: [] }));
    expect((await answer(given)).accepted).toBe(true);
    expect(child.answers).toEqual([['q', given]]);
    expect((await work.journal()).at(-1)).toMatchObject({ answer: text });
  });

  it.each<[string, boolean]>([
    ['yes', true],
    ['TRUE', true],
    [' no', false],
    ['false', false],
  ])('"%s" to a yes-or-no question means %s', async (value, confirmed) => {
    await questions.ask(child, aQuestion({ method: 'confirm', options: [] }));
    expect(await answer({ value })).toEqual({ accepted: true, reason: null });
    expect(child.answers).toEqual([['q', { confirmed }]]);
    expect((await work.journal()).at(-1)).toMatchObject({ answer: confirmed ? 'yes' : 'no' });
  });

  it.each<[string, QuestionAnswer, RegExp, RegExp]>([
    ['confirm', { value: 'perhaps' }, /"perhaps" is neither/, /yes or no/],
    ['confirm', { value: '' }, /"" is neither/, /yes or no/],
    ['select', { value: 'zzz' }, /"zzz" is none of its options/, /"north", "south"/],
    ['select', { value: 'North' }, /"North" is none/, /"north", "south"/],
    ['select', { confirmed: true }, /not for yes or no/, /"north", "south"/],
    ['input', { confirmed: false }, /asks for a text/, /with a text/],
    ['editor', { confirmed: true }, /asks for a text/, /with a text/],
  ])(
    'of the wrong kind is refused with the rule, and the question stays open: %s, %j',
    async (method, given, why, next) => {
      await questions.ask(child, aQuestion({ method, ...(method === 'select' ? {} : { options: [] }) }));
      await expect(answer(given)).rejects.toMatchObject({
        code: 'answer_invalid',
        message: expect.stringMatching(why),
        hint: expect.stringMatching(next),
      });
      expect(child.answers).toEqual([]);
      expect((await work.journal()).map(({ type }) => type)).toEqual(['question.asked']);
      expect(work.run.view.state).toBe('waiting');
      await answer({ cancelled: true });
      expect(child.answers).toEqual([['q', { cancelled: true }]]);
    },
  );

  it('that is the first wins; who comes later is told so', async () => {
    await questions.ask(child, aQuestion());
    const others: Owner[] = [someone, { kind: 'vscode', id: 'window' }, { kind: 'pi-session', id: 's' }];
    const results = await Promise.all(
      others.map((by, i) => answer({ value: ['north', 'south', ''][i] ?? '' }, 'q', by)),
    );
    expect(results.map(({ accepted }) => accepted)).toEqual([true, false, false]);
    expect(results[1]?.reason).toMatch(/answered already/);
    expect(child.answers).toEqual([['q', { value: 'north' }]]);
    const answered = (await work.journal()).filter(({ type }) => type === 'question.answered');
    expect(answered).toMatchObject([{ by: someone, answer: 'north' }]);
    expect(await answer({ value: 'south' })).toMatchObject({ accepted: false });
  });

  it('to nothing that was asked is refused', async () => {
    await questions.ask(child, aQuestion());
    expect(await answer({ value: 'north' }, 'other')).toMatchObject({ accepted: false, reason: expect.any(String) });
    expect(child.answers).toEqual([]);
    expect(work.run.view.state).toBe('waiting');
  });

  it('is written down without tokens and cut, but reaches the child whole', async () => {
    const { text, secret } = secrets['an OpenAI key'] ?? { text: '', secret: '' };
    const value = `${text} ${'x'.repeat(9_000)}`;
    await questions.ask(child, aQuestion({ method: 'editor', options: [] }));
    await answer({ value });
    expect(child.answers).toEqual([['q', { value }]]);
    const last = (await work.journal()).at(-1);
    expect(JSON.stringify(last)).not.toContain(secret);
    expect(last?.type === 'question.answered' && last.answer.length).toBe(4_000);
  });

  it('that picks an option which is shown cut is the whole option for the child', async () => {
    const options = ['north', `south ${'x'.repeat(400)}`];
    await questions.ask(child, aQuestion({ options }));
    await answer({ value: work.run.view.questions[0]?.options[1] ?? '' });
    expect(child.answers).toEqual([['q', { value: options[1] }]]);
  });

  it('frees only its own question', async () => {
    for (const id of ['a', 'b']) await questions.ask(child, aQuestion({ id }));
    await answer({ value: 'north' }, 'a');
    expect(work.run.view).toMatchObject({ state: 'waiting', questions: [{ id: 'b' }] });
    await answer({ value: 'south' }, 'b');
    expect(child.answers.map(([id]) => id)).toEqual(['a', 'b']);
  });
});

describe('a question that nobody answers', () => {
  const expiry = () =>
    waitFor('the expiry', async () => (await work.journal()).find(({ type }) => type === 'question.expired'));

  it('is cancelled after the limit; an answer comes too late', async () => {
    questions = new Questions(work.run, 1, 20);
    await questions.ask(child, aQuestion());
    expect(await expiry()).toEqual({ type: 'question.expired', questionId: 'q', reason: 'nobody answered in time' });
    await waitFor('the answer', () => child.answers.length > 0);
    expect(child.answers).toEqual([['q', { cancelled: true }]]);
    expect(work.run.view).toMatchObject({ state: 'running', questions: [] });
    expect(await answer({ value: 'north' })).toMatchObject({ accepted: false });
    expect(child.answers).toHaveLength(1);
  });

  it('is not answered for a child that ends its wait by itself', async () => {
    await questions.ask(child, aQuestion({ timeoutMs: 20 }));
    await expiry();
    await waitFor('the run to go on', () => work.run.view.state === 'running');
    await questions.close();
    expect(child.answers).toEqual([]);
  });

  it('expires once only, also when it is answered meanwhile', async () => {
    questions = new Questions(work.run, 1, 20);
    await questions.ask(child, aQuestion());
    await answer({ value: 'north' });
    await questions.ask(child, aQuestion({ id: 'second' }));
    await expiry();
    const types = (await work.journal()).map((event) =>
      'questionId' in event ? `${event.type} ${event.questionId}` : '',
    );
    expect(types).toEqual([
      'question.asked q',
      'question.answered q',
      'question.asked second',
      'question.expired second',
    ]);
  });
});

describe('the end of the work', () => {
  it('closes what is open, and asks nobody any more', async () => {
    await questions.ask(child, aQuestion({ id: 'a' }));
    await questions.ask(child, aQuestion({ id: 'b', timeoutMs: 60_000 }));
    await questions.close();
    const expired = (await work.journal()).slice(2);
    expect(expired).toEqual(
      ['a', 'b'].map((questionId) => ({ type: 'question.expired', questionId, reason: 'the agent ended' })),
    );
    expect(child.answers).toEqual([['a', { cancelled: true }]]);
    expect(work.run.view).toMatchObject({ state: 'running', questions: [] });
    await questions.ask(child, aQuestion({ id: 'late' }));
    expect(child.answers.at(-1)).toEqual(['late', { cancelled: true }]);
    expect(await answer({ value: 'north' }, 'late')).toMatchObject({ accepted: false });
    expect((await work.journal()).slice(2)).toEqual(expired);
  });
});

/** Telling the child something, and answering what it asks. */
import { describe, expect, it } from 'vitest';
import { type PanelHead, type ToTranscriptPanel, TRANSCRIPT_WORDS } from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { panelBrowser } from './host/browser.ts';
import { head, NOTHING_CAN, note, question } from './host/items.ts';
import type { PanelPage } from './host/panel-page.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();
const words = TRANSCRIPT_WORDS;

type Receipt = Extract<ToTranscriptPanel, { type: 'receipt' }>;

async function openWith(more: Partial<PanelHead> = {}, draft = '') {
  const transcript = new ScriptedTranscript([note('n', 'note')], head(more));
  transcript.draft = draft;
  const panel = await openPanel({ transcript });
  await panel.row('n').waitFor();
  return panel;
}

function box(panel: PanelPage) {
  return panel.page.getByRole('textbox', { name: words['steer.name'] });
}

async function say(panel: PanelPage, text: string, key = 'Enter') {
  const before = panel.messages('steer').length;
  await box(panel).fill(text);
  await box(panel).press(key);
  return await panel.waitForMessage('steer', before + 1);
}

async function answer(panel: PanelPage, request: number, state: Receipt['state'], message: string | null = null) {
  await panel.post({ type: 'receipt', request, state, message });
}

describe('the steer box', () => {
  it('sends with Enter, as a follow-up with Alt+Enter, and writes a line with Shift+Enter', async () => {
    const panel = await openWith();
    await box(panel).fill('one');
    await box(panel).press('Shift+Enter');
    await box(panel).pressSequentially('two');
    await box(panel).press('Enter');
    expect(await panel.waitForMessage('steer')).toMatchObject({ mode: 'steer', text: 'one\ntwo' });
    await waitFor('the empty box', async () => (await box(panel).inputValue()) === '');
    await box(panel).fill('later');
    await box(panel).press('Alt+Enter');
    expect(await panel.waitForMessage('steer', 2)).toMatchObject({ mode: 'follow-up', text: 'later' });
    await box(panel).press('Enter');
    await panel.settled();
    expect(panel.messages('steer')).toHaveLength(2);
  });

  it('has a mode and a button', async () => {
    const panel = await openWith();
    await panel.page.getByLabel(words['steer.mode']).selectOption('follow-up');
    const later = panel.page.getByRole('textbox', { name: words['steer.followUpName'] });
    await later.fill('afterwards');
    await panel.page.getByRole('button', { name: words['steer.send'] }).click();
    expect(await panel.waitForMessage('steer')).toMatchObject({ mode: 'follow-up', text: 'afterwards' });
  });

  it('keeps a draft', async () => {
    const panel = await openWith({}, 'half a thou');
    expect(await box(panel).inputValue()).toBe('half a thou');
    await box(panel).pressSequentially('ght');
    expect(await panel.waitForMessage('draft')).toEqual({ type: 'draft', text: 'half a thought' });
    expect(panel.messages('draft').length).toBeLessThan(3);
    await panel.delta({ added: [note('m', 'more')] });
    await panel.row('m').waitFor();
    expect(await box(panel).inputValue()).toBe('half a thought');
    await box(panel).press('Enter');
    await waitFor('the draft to be gone', () => panel.messages('draft').at(-1)?.text === '');
  });

  it('gives way to the reason when the run takes no messages', async () => {
    const panel = await openWith({ can: { ...NOTHING_CAN, resume: true }, state: 'complete', stateWord: 'Complete' });
    await panel.page.getByText('This run takes no messages (Complete).').waitFor();
    expect(await panel.page.locator('#steer').count()).toBe(0);
    await panel.page.locator('.steer-closed vscode-button').click();
    expect(await panel.waitForMessage('command')).toEqual({ type: 'command', name: 'resume' });
    await panel.delta({ head: head({ runId: null, can: NOTHING_CAN, state: null, stateWord: '' }) });
    await panel.page.getByText(words['steer.noRun']).waitFor();
  });
});

describe('receipts', () => {
  const entry = { requestId: 'r1', mode: 'steer', preview: 'Use the old port', reason: null, at: 1 } as const;
  const receipt = (panel: PanelPage) => panel.page.locator('.receipt');

  it('follow a message from sent to delivered, and then go', async () => {
    const panel = await openWith();
    const { request } = await say(panel, 'Use the old port');
    await receipt(panel).getByText(words['receipt.sending']).waitFor();
    await answer(panel, request, 'queued');
    await receipt(panel).getByText(words['receipt.queued']).waitFor();
    await panel.delta({ head: head({ steering: [{ ...entry, state: 'queued' }] }) });
    await panel.settled();
    expect(await receipt(panel).count()).toBe(1);
    await panel.delta({ head: head({ steering: [{ ...entry, state: 'delivered' }] }) });
    await receipt(panel).getByText(words['receipt.delivered']).waitFor();
    await receipt(panel).waitFor({ state: 'detached' });
  });

  it('show a message once, also when the run tells of it before the sender is answered', async () => {
    const panel = await openWith();
    const { request } = await say(panel, entry.preview);
    await panel.delta({ head: head({ steering: [{ ...entry, state: 'queued' }] }) });
    await receipt(panel).getByText(words['receipt.queued']).waitFor();
    expect(await receipt(panel).count()).toBe(1);
    await answer(panel, request, 'queued');
    await panel.settled();
    expect(await receipt(panel).count()).toBe(1);
    // The same words again are another message.
    await say(panel, entry.preview);
    await receipt(panel).getByText(words['receipt.sending']).waitFor();
    expect(await receipt(panel).count()).toBe(2);
  });

  it('keep what was missed, with the reason, and the text to try again', async () => {
    const panel = await openWith();
    const { request } = await say(panel, 'Use the old port, please, and say why it was changed at all');
    await panel.delta({
      head: head({ steering: [{ ...entry, preview: 'Use the old port, please…', state: 'queued' }] }),
    });
    await answer(panel, request, 'queued');
    const missed = {
      ...entry,
      preview: 'Use the old port, please…',
      state: 'missed',
      reason: 'the child ended first',
    } as const;
    await panel.delta({ head: head({ steering: [missed] }) });
    await receipt(panel).getByText(words['receipt.missed']).waitFor();
    expect(await receipt(panel).innerText()).toContain('the child ended first');
    await box(panel).fill('And more');
    await receipt(panel).getByText(words['receipt.again']).click();
    await receipt(panel).waitFor({ state: 'detached' });
    const text = 'Use the old port, please, and say why it was changed at all\n\nAnd more';
    await waitFor('the text', async () => (await box(panel).inputValue()) === text);
  });

  it.each([
    ['refused', 'The run has ended.'],
    ['failed', 'The runner does not answer.'],
  ] as const)('%s: the reason shows, and the text is not lost', async (state, reason) => {
    const panel = await openWith();
    const { request } = await say(panel, 'Hello');
    await answer(panel, request, state, reason);
    await receipt(panel).getByText(reason).waitFor();
    await panel.page.getByRole('status').getByText(`: ${reason}`).waitFor({ state: 'attached' });
    expect(await receipt(panel).getAttribute('data-state')).toBe(state);
    await receipt(panel).getByText(words['receipt.again']).click();
    await waitFor('the text', async () => (await box(panel).inputValue()) === 'Hello');
    await box(panel).press('Enter');
    const second = await panel.waitForMessage('steer', 2);
    await answer(panel, second.request, state, reason);
    await receipt(panel).getByRole('button', { name: words['receipt.dismiss'] }).click();
    await receipt(panel).waitFor({ state: 'detached' });
  });

  it('an error of the extension is one too', async () => {
    const panel = await openWith();
    const { request } = await say(panel, 'Hello');
    await panel.post({ type: 'failed', request, error: { code: 'runner_unreachable', message: 'Nobody there.' } });
    await receipt(panel).getByText('Nobody there.').waitFor();
  });

  it('of before are not shown, what is still on its way is', async () => {
    const panel = await openWith({
      steering: [
        { ...entry, state: 'delivered' },
        { ...entry, requestId: 'r2', preview: 'old', state: 'missed' },
        { ...entry, requestId: 'r3', preview: 'on its way', state: 'queued' },
      ],
    });
    await receipt(panel).getByText('on its way').waitFor();
    expect(await receipt(panel).count()).toBe(1);
  });
});

describe('questions', () => {
  it('with options are answered by one of them', async () => {
    const panel = await openWith({ questions: [question('q', { options: ['8080', '9090'], message: 'Taken: 3000' })] });
    const card = panel.page.getByRole('region', { name: 'Which port?' });
    expect(await card.innerText()).toContain('Taken: 3000');
    await card.getByRole('button', { name: '9090' }).click();
    expect(await panel.waitForMessage('answer')).toMatchObject({ questionId: 'q', answer: { value: '9090' } });
    await card.getByText(words['question.answering']).waitFor();
    await panel.delta({ head: head({ questions: [] }) });
    await card.waitFor({ state: 'detached' });
  });

  it('of yes and no, of a line, of a text, and without an answer', async () => {
    const panel = await openWith({
      questions: [
        question('c', { method: 'confirm', title: 'Delete it?' }),
        question('i', { method: 'input', title: 'Its name?' }),
        question('e', { method: 'editor', title: 'The text?' }),
        question('x', { method: 'select', title: 'Which?', options: ['a'] }),
      ],
    });
    const card = (name: string) => panel.page.getByRole('region', { name });
    await card('Delete it?').getByRole('button', { name: words['question.no'], exact: true }).click();
    await card('Its name?').getByRole('textbox').fill('main');
    await card('Its name?').getByRole('textbox').press('Enter');
    await card('The text?').getByRole('textbox').fill('two\nlines');
    await card('The text?').getByRole('button', { name: words['question.send'] }).click();
    await card('Which?').getByRole('button', { name: words['question.cancel'] }).click();
    await panel.waitForMessage('answer', 4);
    expect(panel.messages('answer').map(({ questionId, answer }) => [questionId, answer])).toEqual([
      ['c', { confirmed: false }],
      ['i', { value: 'main' }],
      ['e', { value: 'two\nlines' }],
      ['x', { cancelled: true }],
    ]);
  });

  it('that were not taken can be answered again', async () => {
    const panel = await openWith({ questions: [question('q', { options: ['yes'] })] });
    await panel.page.getByRole('button', { name: 'yes' }).click();
    const { request } = await panel.waitForMessage('answer');
    await panel.post({ type: 'receipt', request, state: 'refused', message: 'Somebody was first.' });
    await panel.page.locator('.question').getByText('Somebody was first.').waitFor();
    await panel.page.getByRole('button', { name: 'yes' }).waitFor();
  });
});

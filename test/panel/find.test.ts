/** Finding in the whole transcript. */
import { expect, it } from 'vitest';
import { TRANSCRIPT_WORDS } from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { panelBrowser } from './host/browser.ts';
import { body, note, text, thinking, tool } from './host/items.ts';
import type { PanelPage } from './host/panel-page.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();
const words = TRANSCRIPT_WORDS;

function transcript(): ScriptedTranscript {
  const items = Array.from({ length: 300 }, (_, n) =>
    text(`i${n}`, n % 50 === 5 ? `The Needle, a needle: ${n}` : `hay ${n}`),
  );
  items[100] = thinking('i100', 'short\n\nthe needle of thought');
  items[120] = tool('i120', { output: body('a needle of output\n') });
  return new ScriptedTranscript(items);
}

async function find(panel: PanelPage, query: string): Promise<void> {
  await panel.row('i299').waitFor();
  await panel.page.keyboard.press('Control+f');
  await panel.page.keyboard.type(query);
}

async function count(panel: PanelPage, expected: string): Promise<void> {
  let seen = '';
  const probe = async () => {
    seen = await panel.page.locator('.find .count').innerText();
    return seen === expected;
  };
  await waitFor(`the count ${expected}`, probe, { seen: () => seen });
}

/** Texts under the marks of the find box: all of them, and the current one. */
async function marks(panel: PanelPage): Promise<{ all: string[]; current: string[] }> {
  return await panel.page.evaluate(() => {
    const texts = (name: string) => [...(CSS.highlights.get(name) ?? [])].map((range) => range.toString());
    return { all: texts('transcript-find'), current: texts('transcript-find-current') };
  });
}

it('counts, marks and goes from hit to hit, also where nothing is loaded', async () => {
  const panel = await openPanel({ transcript: transcript() });
  await find(panel, 'needle');
  await count(panel, '14 of 14');
  await panel.row('i255').waitFor();
  expect(await marks(panel)).toMatchObject({ all: ['Needle', 'needle'], current: ['needle'] });
  await panel.page.keyboard.press('F3');
  await count(panel, '1 of 14');
  await panel.row('i5').waitFor();
  await waitFor('the mark', async () => (await marks(panel)).current[0] === 'Needle');
  expect(panel.messages('page')).toContainEqual(expect.objectContaining({ direction: 'around', cursor: 'c:i5' }));
  await panel.page.keyboard.press('Shift+F3');
  await count(panel, '14 of 14');
  await panel.row('i255').waitFor();
});

it('unfolds what the hit is in', async () => {
  const panel = await openPanel({ transcript: transcript() });
  await find(panel, 'needle of');
  await count(panel, '2 of 2');
  await panel.row('i120').getByText('a needle of output').waitFor();
  await panel.page.keyboard.press('Shift+Enter');
  await count(panel, '1 of 2');
  await panel.row('i100').getByText('the needle of thought').waitFor();
});

it('shows the place of a hit that lies in a part that is not shown', async () => {
  const script = transcript();
  script.texts.set('i299', `${'x'.repeat(50)} hidden needle ${'y'.repeat(50)}`);
  const panel = await openPanel({ transcript: script });
  await find(panel, 'hidden needle');
  await count(panel, '1 of 1');
  expect(await panel.page.locator('.find .excerpt mark').innerText()).toBe('hidden needle');
});

it('can respect upper and lower case, and says when there is nothing', async () => {
  const panel = await openPanel({ transcript: transcript() });
  await find(panel, 'NEEDLE');
  await count(panel, '14 of 14');
  await panel.page.getByRole('button', { name: words['find.matchCase'] }).click();
  await count(panel, words['find.none']);
  await panel.page.getByRole('textbox', { name: words['find.query'] }).fill('Needle');
  await count(panel, '6 of 6');
});

it('shows hits as they come, and how far it is', async () => {
  const panel = await openPanel({ transcript: transcript() });
  await panel.row('i299').waitFor();
  panel.silent = true;
  await find(panel, 'hay');
  const { request } = await waitFor('the search', () => panel.messages('find').find(({ query }) => query === 'hay'));
  await count(panel, `${words['find.searching']} 0 %`);
  const hit = { key: 'i299', cursor: 'c:i299', excerpt: 'hay 299', at: 0, length: 3 };
  await panel.post({ type: 'found', request, hits: [hit], scanned: 30, size: 100, cut: false, done: false });
  await count(panel, '1 of 1 30 %');
  await panel.post({ type: 'found', request, hits: [hit], scanned: 100, size: 100, cut: true, done: true });
  await count(panel, '1 of 2+');
});

it('is closed by Escape, which ends the search and gives the focus back', async () => {
  const panel = await openPanel({ transcript: transcript() });
  await find(panel, 'needle');
  await count(panel, '14 of 14');
  await panel.page.keyboard.press('Escape');
  await panel.page.locator('.find').waitFor({ state: 'detached' });
  expect(panel.messages('find').at(-1)?.query).toBe('');
  expect(await marks(panel)).toEqual({ all: [], current: [] });
  expect(await panel.page.evaluate(() => document.activeElement?.className)).toBe('row');
  await panel.page.keyboard.press('Control+f');
  // The first in view, which is now where the last hit was.
  await count(panel, '13 of 14');
  await panel.page.keyboard.type('hay 299');
  await count(panel, '1 of 1');
});

it('opens by a command of the editor, as do the other parts', async () => {
  const panel = await openPanel({ transcript: new ScriptedTranscript([note('n', 'n')]) });
  await panel.row('n').waitFor();
  const focused = async () =>
    await panel.page.evaluate(() => document.activeElement?.id || document.activeElement?.className);
  for (const [what, where] of [
    ['find', 'find'],
    ['steer', 'steer'],
    ['list', 'row'],
  ] as const) {
    await panel.post({ type: 'focus', what });
    await waitFor(`focus on ${what}`, async () => (await focused()) === where, { seen: focused });
  }
});

it('shows what was found from outside, in the find box, among the others', async () => {
  const panel = await openPanel({ transcript: transcript() });
  await panel.row('i299').waitFor();
  const hit = { key: 'i55', cursor: 'c:i55', excerpt: 'The Needle, a needle: 55', at: 14, length: 6 };
  await panel.post({ type: 'hit', query: 'needle', hit, occurrence: 1 });
  await panel.row('i55').waitFor();
  await count(panel, '4 of 14');
  await waitFor('the mark', async () => (await marks(panel)).current[0] === 'needle');
  expect((await marks(panel)).all).toContain('Needle');
  // From there on it is a search like any other, with the keys in its box.
  await panel.page.keyboard.press('Enter');
  await count(panel, '5 of 14');
});

it('stays where it is when what was found from outside is not there any more', async () => {
  const panel = await openPanel({ transcript: transcript() });
  await panel.row('i299').waitFor();
  const hit = { key: 'gone', cursor: 'c:gone', excerpt: 'a needle', at: 2, length: 6 };
  await panel.post({ type: 'hit', query: 'needle', hit, occurrence: 0 });
  await count(panel, '14 of 14');
  await panel.row('i255').waitFor();
});

/** The list: streaming, following the end, paging with a steady view, bounds, the place that is kept. */
import { describe, expect, it } from 'vitest';
import { type PanelItem, TRANSCRIPT_WORDS } from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { panelBrowser } from './host/browser.ts';
import { body, head, note, text, thinking, tool, user } from './host/items.ts';
import { type PanelPage, SUBJECT } from './host/panel-page.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();
const words = TRANSCRIPT_WORDS;

/** Items of unlike heights, as in life. */
function items(count: number): PanelItem[] {
  return Array.from({ length: count }, (_, n) => {
    const key = `i${n}`;
    if (n % 10 === 0) return user(key, `Question ${n}\n\n${'- point\n'.repeat(n % 7)}`);
    if (n % 3 === 0) return text(key, `Answer ${n}. ${'It has some words. '.repeat((n * 7) % 60)}`);
    if (n % 7 === 0) return thinking(key, `Thought ${n}`);
    return tool(key, { title: `command ${n}`, output: body(`${'line\n'.repeat(n % 20)}`) });
  });
}

/** Row at the top of the view and its distance from there, in pixels. */
async function topRow(panel: PanelPage): Promise<{ key: string; offset: number }> {
  return await panel.scroller.evaluate((it) => {
    const top = it.getBoundingClientRect().top;
    for (const row of it.querySelectorAll<HTMLElement>('.row')) {
      const box = row.getBoundingClientRect();
      if (box.bottom > top + 1) return { key: row.dataset['key'] ?? '', offset: box.top - top };
    }
    return { key: '', offset: 0 };
  });
}

async function offsetOf(panel: PanelPage, key: string): Promise<number> {
  return await panel.scroller.evaluate((it, wanted) => {
    const row = it.querySelector(`.row[data-key="${wanted}"]`);
    return row ? row.getBoundingClientRect().top - it.getBoundingClientRect().top : Number.NaN;
  }, key);
}

async function scrollTo(panel: PanelPage, top: number): Promise<void> {
  await panel.scroller.evaluate((it, to) => it.scrollTo(0, to), top);
  await panel.settled();
}

describe('streamed text', () => {
  it('grows in place, and its finished item takes over what was unfolded', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript([thinking('live', 'One', true)]) });
    await panel.row('live').locator('[data-fold]').click();
    for (const piece of [' two', ' three\n\n- a', '\n- b'])
      await panel.delta({ grown: [{ key: 'live', text: piece }] });
    await panel.row('live').locator('li').nth(1).waitFor();
    expect(await panel.row('live').innerText()).toContain('One two three');
    await panel.delta({ removed: ['live'], added: [thinking('done', 'One two three\n\n- a\n- b'), text('t', 'So.')] });
    await panel.row('done').locator('li').nth(1).waitFor();
    expect(await panel.row('live').count()).toBe(0);
  });

  it('draws again only the blocks that change', async () => {
    const panel = await openPanel({
      transcript: new ScriptedTranscript([text('live', 'First.\n\nSec', { streaming: true })]),
    });
    const first = panel.row('live').locator('p').first();
    await first.evaluate((it) => it.setAttribute('data-mine', ''));
    await panel.delta({ grown: [{ key: 'live', text: 'ond.\n\nThird.' }] });
    await panel.row('live').getByText('Third.').waitFor();
    expect(await first.getAttribute('data-mine')).toBe('');
    expect(await panel.row('live').locator('p').allInnerTexts()).toEqual(['First.', 'Second.', 'Third.']);
  });

  it('keeps its end when it grows for long', async () => {
    const panel = await openPanel({
      transcript: new ScriptedTranscript([text('live', 'START\n', { streaming: true })]),
    });
    const piece = `${'words and more words\n'.repeat(1000)}`;
    for (let n = 0; n < 6; n += 1) await panel.delta({ grown: [{ key: 'live', text: piece }] });
    await panel.delta({ grown: [{ key: 'live', text: '\n\nNEWEST' }] });
    await panel.row('live').getByText('NEWEST').waitFor();
    const shown = await panel.row('live').innerText();
    expect(shown).not.toContain('START');
    expect(shown.length).toBeLessThan(70_000);
    expect(shown).toContain('The last 32 KB');
    expect(await panel.fromEnd()).toBeLessThan(2);
  });
});

describe('the end', () => {
  it('is followed while text and items come', async () => {
    const panel = await openPanel({
      transcript: new ScriptedTranscript([...items(40), text('live', 'x', { streaming: true })]),
    });
    await panel.row('live').waitFor();
    for (let n = 0; n < 20; n += 1) {
      await panel.delta({
        grown: [{ key: 'live', text: `\n\nparagraph ${n} ${'with words '.repeat(20)}` }],
        added: [note(`n${n}`, `${n}`)],
      });
      await panel.settled();
      expect(await panel.fromEnd()).toBeLessThan(2);
    }
    await panel.row('n19').waitFor();
  });

  it('is left when the person scrolls up, and what comes is counted', async () => {
    const panel = await openPanel({
      transcript: new ScriptedTranscript([...items(50), text('live', 'x', { streaming: true })]),
    });
    await panel.row('live').waitFor();
    await panel.wheel(-15);
    await panel.page.getByRole('button', { name: words['list.jump'], exact: true }).waitFor();
    await panel.wheel(-500);
    await panel.settled();
    const before = await topRow(panel);
    for (let n = 0; n < 5; n += 1)
      await panel.delta({ grown: [{ key: 'live', text: '\n\nmore\n\nand more' }], added: [note(`n${n}`, `${n}`)] });
    await panel.page.getByText('Jump to end (5 new)').waitFor();
    expect(await topRow(panel)).toEqual(before);
    await panel.page.getByText('Jump to end (5 new)').click();
    await panel.row('n4').waitFor();
    expect(await panel.fromEnd()).toBeLessThan(2);
    expect(await panel.page.locator('.jump').count()).toBe(0);
    await panel.delta({ added: [note('last', 'last')] });
    await panel.row('last').waitFor();
    expect(await panel.fromEnd()).toBeLessThan(2);
  });

  it('is not left by the wheel over a box that scrolls by itself', async () => {
    const output = body('line\n'.repeat(200));
    const panel = await openPanel({ transcript: new ScriptedTranscript([...items(40), tool('b', { output })]) });
    await panel.row('b').locator('[data-fold]').first().click();
    const box = panel.row('b').locator('pre.output');
    await box.evaluate((it) => it.scrollTo(0, 400));
    await box.hover();
    await panel.page.mouse.wheel(0, -100);
    await waitFor('the box to scroll', async () => (await box.evaluate((it) => it.scrollTop)) < 400);
    expect(await panel.page.locator('.jump').count()).toBe(0);
  });

  it('is followed again when the person scrolls down to it', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript(items(50)) });
    await panel.row('i49').waitFor();
    await panel.wheel(-400);
    await panel.page.locator('.jump').waitFor();
    await panel.wheel(2000);
    await panel.page.locator('.jump').waitFor({ state: 'detached' });
    await panel.delta({ added: [note('last', 'last')] });
    await panel.row('last').waitFor();
  });

  it('stays the end when the window or the foot changes its size', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript(items(50)) });
    await panel.row('i49').waitFor();
    await panel.page.setViewportSize({ width: 640, height: 400 });
    await waitFor('the end in the small window', async () => (await panel.fromEnd()) < 2);
    await panel.page.setViewportSize({ width: 1000, height: 800 });
    await waitFor('the end in the large window', async () => (await panel.fromEnd()) < 2);
  });
});

describe('paging', () => {
  it('adds what comes before without moving what is read, down to the beginning', async () => {
    const transcript = new ScriptedTranscript(items(400));
    const panel = await openPanel({ transcript });
    await panel.row('i399').waitFor();
    panel.silent = true;
    await scrollTo(panel, 60);
    const request = await panel.waitForMessage('page');
    expect(request).toMatchObject({ direction: 'before', cursor: 'c:i340' });
    await panel.page.getByText(words['list.loading']).waitFor();
    const before = await topRow(panel);
    for (const answer of transcript.answers(request)) await panel.post(answer);
    await panel.page.getByText(words['list.loading']).waitFor({ state: 'detached' });
    await panel.settled();
    const after = await topRow(panel);
    expect(after.key).toBe(before.key);
    expect(Math.abs(after.offset - before.offset)).toBeLessThan(2);
    panel.silent = false;
    for (let n = 0; n < 12; n += 1) await scrollTo(panel, 0);
    await panel.page.getByText(words['list.beginning']).waitFor();
    await panel.row('i0').waitFor();
  });

  it('asks once for a page', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript(items(400)) });
    await panel.row('i399').waitFor();
    panel.silent = true;
    for (const top of [300, 200, 100, 50, 0]) await scrollTo(panel, top);
    expect(panel.messages('page')).toHaveLength(1);
  });

  it('shows the end when a place does not exist any more', async () => {
    const transcript = new ScriptedTranscript(items(400));
    const panel = await openPanel({ transcript });
    await panel.row('i399').waitFor();
    transcript.items = [note('other', 'another file')];
    await scrollTo(panel, 0);
    await panel.row('other').waitFor();
    expect(panel.messages('page').map(({ direction }) => direction)).toEqual(['before', 'tail']);
  });

  it('of 10,000 items is fluent, and the page stays small', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript(items(10_000)) });
    await panel.row('i9999').waitFor();
    const { gaps, nodes } = await panel.scroller.evaluate(async (it) => {
      const gaps: number[] = [];
      let nodes = 0;
      let last = performance.now();
      // Up through thousands of items, as with a held key.
      for (let n = 0; n < 400; n += 1) {
        it.scrollTop -= 400;
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        gaps.push(now - last);
        last = now;
        nodes = Math.max(nodes, document.querySelectorAll('*').length);
      }
      return { gaps: gaps.sort((a, b) => a - b), nodes };
    });
    const at = (part: number) => Math.round(gaps[Math.floor(part * (gaps.length - 1))] ?? 0);
    console.log(
      `10,000 items: frames of ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms; at most ${nodes} elements`,
    );
    expect(nodes).toBeLessThan(2500);
    // Sixty frames a second on a machine with nothing else to do; this one may have a lot.
    expect(at(0.5)).toBeLessThan(50);
    expect(panel.messages('page').length).toBeGreaterThan(3);
  });

  it('lets go of what is far away, and gets it again', async () => {
    const transcript = new ScriptedTranscript(items(3000));
    const panel = await openPanel({ transcript });
    await panel.row('i2999').waitFor();
    // Up until the window has let go of its end.
    for (let n = 0; n < 200 && (await topNumber(panel)) > 500; n += 1) await scrollTo(panel, 0);
    await panel.page.locator('.jump').click();
    await panel.row('i2999').waitFor();
    expect(panel.messages('page').at(-1)?.direction).toBe('tail');
    expect(await panel.fromEnd()).toBeLessThan(2);
  });
});

async function topNumber(panel: PanelPage): Promise<number> {
  return Number((await topRow(panel)).key.slice(1));
}

describe('the place', () => {
  it('is kept while a person reads, and is the end while it is followed', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript(items(50)) });
    await panel.row('i49').waitFor();
    await waitFor('the state', () => panel.state !== undefined && panel.state !== null);
    expect(panel.state).toEqual({ version: 1, subject: SUBJECT, anchor: null });
    await panel.wheel(-600);
    await panel.page.locator('.jump').waitFor();
    const { key } = await topRow(panel);
    await waitFor('the anchor', () => JSON.stringify(panel.state).includes(`"${key}"`), { seen: () => panel.state });
    expect(panel.state).toEqual({ version: 1, subject: SUBJECT, anchor: { key, cursor: `c:${key}` } });
  });

  it('is restored, also far from the end', async () => {
    const state = { version: 1, subject: SUBJECT, anchor: { key: 'i120', cursor: 'c:i120' } };
    const panel = await openPanel({ transcript: new ScriptedTranscript(items(400)), state });
    await panel.row('i120').waitFor();
    await panel.settled();
    expect(Math.abs(await offsetOf(panel, 'i120'))).toBeLessThan(2);
    expect(panel.messages('page')[0]).toMatchObject({ direction: 'around', cursor: 'c:i120' });
    await panel.page.locator('.jump').waitFor();
  });

  it.each([
    ['of another transcript', { version: 1, subject: { ...SUBJECT, child: 3 }, anchor: { key: 'i1', cursor: 'c:i1' } }],
    ['that cannot be read', { version: 7, anchor: 'x' }],
    ['that does not exist any more', { version: 1, subject: SUBJECT, anchor: { key: 'gone', cursor: 'c:gone' } }],
  ])('%s is not used', async (_, state) => {
    const panel = await openPanel({ transcript: new ScriptedTranscript(items(200)), state });
    await panel.row('i199').waitFor();
  });

  it('stays when everything is sent anew', async () => {
    const transcript = new ScriptedTranscript(items(100));
    const panel = await openPanel({ transcript });
    await panel.row('i99').waitFor();
    await panel.wheel(-900);
    await panel.page.locator('.jump').waitFor();
    await panel.settled();
    const before = await topRow(panel);
    for (const answer of transcript.answers({ type: 'ready' })) await panel.post(answer);
    await panel.settled();
    await panel.settled();
    const after = await topRow(panel);
    expect(after.key).toBe(before.key);
  });
});

it('a page that was not ready is told nothing, and then all', async () => {
  const panel = await openPanel({ transcript: new ScriptedTranscript([note('a', 'a')], head()) });
  await panel.row('a').waitFor();
  expect(panel.said[0]).toEqual({ type: 'ready' });
  expect(panel.messages('ready')).toHaveLength(1);
});

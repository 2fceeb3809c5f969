/** Everything with the keyboard, and what a screen reader is told. */
import { expect, it } from 'vitest';
import { TRANSCRIPT_WORDS } from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { panelBrowser } from './host/browser.ts';
import { body, head, note, question, text, thinking, tool } from './host/items.ts';
import type { PanelPage } from './host/panel-page.ts';
import { SAMPLE } from './host/sample.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();
const words = TRANSCRIPT_WORDS;

async function focusedKey(panel: PanelPage): Promise<string | undefined> {
  return await panel.page.evaluate(() => {
    const it = document.activeElement;
    return it instanceof HTMLElement && it.classList.contains('row') ? it.dataset['key'] : undefined;
  });
}

async function press(panel: PanelPage, key: string, expected: string): Promise<void> {
  await panel.page.keyboard.press(key);
  let seen: string | undefined;
  const probe = async () => {
    seen = await focusedKey(panel);
    return seen === expected;
  };
  await waitFor(`the focus on ${expected} after ${key}`, probe, { seen: () => seen });
}

it('the list is walked by arrows, pages, start and end', async () => {
  const items = Array.from({ length: 200 }, (_, n) => note(`i${n}`, `note ${n}`));
  const panel = await openPanel({ transcript: new ScriptedTranscript(items) });
  await panel.row('i199').waitFor();
  await panel.post({ type: 'focus', what: 'list' });
  await waitFor('the focus', async () => (await focusedKey(panel)) === 'i199');
  await press(panel, 'ArrowUp', 'i198');
  await press(panel, 'ArrowUp', 'i197');
  await press(panel, 'ArrowDown', 'i198');
  await press(panel, 'Home', 'i140');
  await press(panel, 'ArrowDown', 'i141');
  await panel.page.keyboard.press('PageDown');
  await waitFor('a page further', async () => Number((await focusedKey(panel))?.slice(1)) > 150);
  await press(panel, 'End', 'i199');
  expect(await panel.fromEnd()).toBeLessThan(2);
  expect(await panel.row('i199').getAttribute('aria-label')).toBe('note 199');
  expect(await panel.row('i199').evaluate((it) => getComputedStyle(it).outlineStyle)).toBe('solid');
});

it('Enter folds and unfolds, c copies', async () => {
  const items = [thinking('k', 'One\n\nTwo'), tool('b', { output: body('out') })];
  const panel = await openPanel({ transcript: new ScriptedTranscript(items) });
  await panel.row('b').waitFor();
  await panel.post({ type: 'focus', what: 'list' });
  await waitFor('the focus', async () => (await focusedKey(panel)) === 'b');
  await panel.page.keyboard.press('Enter');
  await panel.row('b').locator('pre.output').waitFor();
  expect(await focusedKey(panel)).toBe('b');
  await panel.page.keyboard.press('Enter');
  await panel.row('b').locator('pre.output').waitFor({ state: 'detached' });
  await press(panel, 'ArrowUp', 'k');
  await panel.page.keyboard.press('c');
  expect(await panel.waitForMessage('copy')).toEqual({ type: 'copy', text: 'One\n\nTwo' });
  expect(await panel.row('k').getAttribute('aria-label')).toBe('Thought: One');
});

it('Tab reaches every control, each with a name and a visible focus', async () => {
  const transcript = new ScriptedTranscript(
    SAMPLE.slice(-6),
    head({ questions: [question('q', { options: ['a', 'b'] })] }),
  );
  const panel = await openPanel({ transcript, size: { width: 900, height: 1000 } });
  await panel.row('k2').waitFor();
  const expected = await panel.page.evaluate(
    () => document.querySelectorAll('button, a[href], select, vscode-button, vscode-text-area').length,
  );
  await panel.page.evaluate(() =>
    document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined,
  );
  const seen: { what: string; name: string; visible: boolean }[] = [];
  const first = 'vscode-button interrupt';
  for (let n = 0; n < 80; n += 1) {
    await panel.page.keyboard.press('Tab');
    const at = await panel.page.evaluate(() => {
      const it = document.activeElement;
      if (!(it instanceof HTMLElement) || it === document.body) return undefined;
      const inner = it.shadowRoot?.activeElement ?? it;
      const style = getComputedStyle(inner);
      const around = getComputedStyle(it.closest('.steer-box') ?? inner);
      return {
        what: `${it.localName} ${it.dataset['command'] ?? it.dataset['action'] ?? it.id}`,
        name: it.getAttribute('aria-label') ?? it.getAttribute('title') ?? it.textContent?.trim() ?? '',
        visible: style.outlineStyle !== 'none' || around.borderColor !== 'rgba(0, 0, 0, 0)',
      };
    });
    if (!at || (seen.length > 0 && at.what === first)) break;
    seen.push(at);
  }
  for (const stop of seen) {
    expect(stop.name, stop.what).not.toBe('');
    expect(stop.visible, stop.what).toBe(true);
  }
  const controls = seen.filter(({ what }) => !/^(?:article|pre|div) /.test(what));
  expect(controls.length).toBe(expected);
  expect(seen.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      'vscode-button stop',
      'vscode-button find',
      'vscode-text-area steer',
      'select steer-mode',
      'vscode-button send',
    ]),
  );
});

it('a run is steered without a mouse', async () => {
  const panel = await openPanel({ transcript: new ScriptedTranscript(SAMPLE) });
  await panel.row('k2').waitFor();
  await panel.post({ type: 'focus', what: 'steer' });
  await waitFor('the box', () => panel.page.evaluate(() => document.activeElement?.id === 'steer'));
  await panel.page.keyboard.type('Go on');
  await panel.page.keyboard.press('Enter');
  expect(await panel.waitForMessage('steer')).toMatchObject({ text: 'Go on' });
});

it('a screen reader is told of states and questions, not of streamed text', async () => {
  const panel = await openPanel({ transcript: new ScriptedTranscript([text('t', 'x', { streaming: true })]) });
  await panel.row('t').waitFor();
  const live = panel.page.getByRole('status');
  const told: string[] = [];
  await panel.page.exposeFunction('told', (what: string) => {
    told.push(what);
  });
  await live.evaluate((it) => {
    new MutationObserver(() => window.told(it.textContent ?? '')).observe(it, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
  for (let n = 0; n < 10; n += 1) await panel.delta({ grown: [{ key: 't', text: ` word ${n}` }] });
  await panel.delta({ head: head({ state: 'waiting', stateWord: 'Waiting', questions: [question('q')] }) });
  for (const stateWord of ['A', 'B', 'Complete'])
    await panel.delta({ head: head({ stateWord, questions: [question('q')] }) });
  await waitFor('the last state', () => told.at(-1) === 'Complete', { timeoutMs: 15_000, seen: () => told });
  expect(told).toEqual([words['question.new'].replace('{0}', 'Which port?'), 'Complete']);
});

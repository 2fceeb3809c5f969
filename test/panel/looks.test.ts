/** How the page looks and how it can be used by everyone: four themes, small windows, axe. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { panelBrowser } from './host/browser.ts';
import { body, head, NOTHING_CAN, question, tool, turn } from './host/items.ts';
import { type PanelPage, THEMES } from './host/panel-page.ts';
import { SAMPLE } from './host/sample.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function findings(panel: PanelPage): Promise<string[]> {
  await panel.page.evaluate(axe);
  const result: unknown = await panel.page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 300))))",
  );
  return Array.isArray(result) ? result.map(String) : ['axe gave no result'];
}

function everything(): ScriptedTranscript {
  const transcript = new ScriptedTranscript(
    SAMPLE,
    head({
      steering: [{ requestId: 's1', mode: 'steer', preview: 'Use the old port', state: 'queued', reason: null, at: 1 }],
      questions: [question('q1', { options: ['8080', '9090'], message: 'Port 3000 is taken.' })],
    }),
  );
  return transcript;
}

describe.each(THEMES)('in the theme %s', (theme) => {
  it('a run at work is readable and has no findings of axe', async () => {
    const panel = await openPanel({ theme, transcript: new ScriptedTranscript(SAMPLE) });
    await panel.row('k2').waitFor();
    await panel.screenshot(`transcript-${theme}`);
    expect(await findings(panel)).toEqual([]);
    await panel.scroller.evaluate((it) => it.scrollTo(0, 0));
    await panel.row('u1').waitFor();
    await panel.screenshot(`transcript-${theme}-top`);
    expect(await findings(panel)).toEqual([]);
  });

  it('so is everything that can stand around the list', async () => {
    const panel = await openPanel({ theme, transcript: everything() });
    await panel.page.keyboard.press('Control+f');
    await panel.page.keyboard.type('lexer');
    await panel.page.locator('.find .excerpt').waitFor();
    await panel.post({
      type: 'failed',
      request: null,
      error: { code: 'run_unreadable', message: 'The journal cannot be read.', hint: 'Check the disk.' },
    });
    await panel.page.locator('.banner').waitFor();
    await panel.screenshot(`transcript-${theme}-around`);
    expect(await findings(panel)).toEqual([]);
  });
});

describe.each(THEMES)('a run that has ended badly, in the theme %s', (theme) => {
  it('is readable and has no findings of axe', async () => {
    const entry = { requestId: 's1', mode: 'steer', preview: 'Use the old port', state: 'queued', at: 1 } as const;
    const transcript = new ScriptedTranscript(
      [
        ...SAMPLE.slice(0, -2),
        tool('b9', { title: 'npm test', state: 'unfinished', durationMs: null, output: body('…\n') }),
        turn('x9', { stopReason: 'error', error: '401 The key is not valid.\nrequest id: 1', usage: null }),
      ],
      head({ steering: [{ ...entry, reason: null }] }),
    );
    const panel = await openPanel({ theme, transcript });
    await panel.row('x9').waitFor();
    await panel.row('b9').locator('[data-fold]').first().click();
    await panel.delta({
      head: head({
        state: 'failed',
        stateWord: 'Failed',
        activity: null,
        can: { ...NOTHING_CAN, resume: true },
        context: { tokens: 180_000, window: 200_000 },
        error: { code: 'child_model_error', message: 'The model refused.', hint: 'Check the key of the provider.' },
        steering: [{ ...entry, state: 'missed', reason: 'the child ended first' }],
      }),
    });
    await panel.page.locator('.receipt[data-state="missed"]').waitFor();
    await panel.screenshot(`transcript-${theme}-ended`);
    expect(await findings(panel)).toEqual([]);
  });
});

describe('in little room', () => {
  it.each([
    ['640×400', { width: 640, height: 400 }],
    ['at 200 % zoom of that, 320×200', { width: 320, height: 200 }],
  ])('%s: everything can be reached, nothing runs out of the page', async (name, size) => {
    const panel = await openPanel({ transcript: everything(), size });
    await panel.row('k2').waitFor();
    await panel.screenshot(`transcript-small-${size.width}`);
    const { wide, list, box } = await panel.page.evaluate(() => {
      const height = (selector: string) => document.querySelector(selector)?.getBoundingClientRect().height ?? 0;
      return {
        wide: document.documentElement.scrollWidth - innerWidth,
        list: height('.scroller'),
        box: height('.steer-box'),
      };
    });
    expect(wide, name).toBe(0);
    expect(list, name).toBeGreaterThanOrEqual(size.height >= 400 ? 110 : 60);
    expect(box, name).toBeGreaterThan(40);
    for (const control of await panel.page.locator('vscode-button, select, .option').all()) {
      await control.scrollIntoViewIfNeeded();
      const at = await control.boundingBox();
      expect(at && at.x >= 0 && at.x + at.width <= size.width && at.y + at.height <= size.height + 1, name).toBe(true);
    }
    expect(await findings(panel)).toEqual([]);
  });

  it('a run with a long name and little to do is legible', async () => {
    const long = 'A title that goes on and on because somebody wrote the whole task into its first line '.repeat(3);
    const transcript = new ScriptedTranscript(SAMPLE, head({ title: long, agent: 'a-rather-long-agent-name' }));
    const panel = await openPanel({ transcript, size: { width: 500, height: 400 } });
    await panel.row('k2').waitFor();
    expect(await panel.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    expect((await panel.page.locator('header h1').boundingBox())?.height).toBeLessThan(30);
  });
});

it('nothing moves by itself for those who want it so', async () => {
  const panel = await openPanel({ transcript: new ScriptedTranscript(SAMPLE) });
  await panel.row('k2').waitFor();
  const moving = async () =>
    await panel.page.evaluate(() => document.getAnimations().filter((it) => it.playState === 'running').length);
  await panel.page.evaluate(() => document.body.classList.remove('vscode-reduce-motion'));
  expect(await moving()).toBeGreaterThan(0);
  await panel.page.evaluate(() => document.body.classList.add('vscode-reduce-motion'));
  expect(await moving()).toBe(0);
  await panel.page.evaluate(() => document.body.classList.remove('vscode-reduce-motion'));
  await panel.page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await moving()).toBe(0);
});

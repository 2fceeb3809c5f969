/** How the page looks and how it can be used by everyone: four themes, small windows, axe. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { panelBrowser } from './host/browser.ts';
import { head, question } from './host/items.ts';
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

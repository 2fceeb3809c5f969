/** A run that says very much: the page stays small whatever has gone through it. */
import { expect, it } from 'vitest';
import { panelBrowser } from './host/browser.ts';
import { note, text } from './host/items.ts';
import type { PanelPage } from './host/panel-page.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();

/** Megabytes that are streamed; all of them before a release. */
const MEGABYTES = process.env['PI_LANES_SOAK'] ? 200 : 15;
const BUDGET_MB = 120;

/** Deltas made in the page, as fast as it takes them: growth, finished items, tools, one delta per frame. */
async function stream(panel: PanelPage, megabytes: number): Promise<void> {
  await panel.page.evaluate(async (target) => {
    const sentence = 'The quick brown fox jumps over the lazy dog, and the dog writes `code` about it.\n';
    const piece = sentence.repeat(400);
    const base = (key: string) => ({ key, cursor: `c:${key}`, t: 0 });
    const body = (text: string) => ({ text, length: text.length, ref: null });
    const send = (delta: object) =>
      window.postMessage({ type: 'delta', changed: [], grown: [], removed: [], added: [], ...delta }, '*');
    let sent = 0;
    for (let n = 0; sent < target * 1024 * 1024; n += 1) {
      const live = `live${n}`;
      send({ added: [{ ...base(live), kind: 'text', streaming: true, model: null, body: body('') }] });
      for (let grown = 0; grown < 8; grown += 1) {
        send({ grown: [{ key: live, text: piece }] });
        sent += piece.length;
        await new Promise(requestAnimationFrame);
      }
      const whole = { text: piece.slice(0, 16_000), length: piece.length * 8, ref: `r${n}` };
      send({
        removed: [live],
        added: [
          { ...base(`t${n}`), kind: 'text', streaming: false, model: null, body: whole },
          {
            ...base(`b${n}`),
            kind: 'tool',
            name: 'bash',
            arguments: body('{}'),
            title: `command ${n}`,
            state: 'done',
            output: whole,
            startedAt: 0,
            durationMs: 3,
            file: null,
            diff: null,
          },
        ],
      });
      sent += 32_000;
    }
  }, megabytes);
}

async function megabytesUsed(panel: PanelPage): Promise<{ heap: number; nodes: number }> {
  const session = await panel.page.context().newCDPSession(panel.page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { heap: of('JSHeapUsedSize') / 1024 / 1024, nodes: of('Nodes') };
}

it(
  `${MEGABYTES} MB of streamed text leave the page under ${BUDGET_MB} MB`,
  async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript([note('n', 'start'), text('t', 'x')]) });
    await panel.row('t').waitFor();
    const started = performance.now();
    await stream(panel, MEGABYTES);
    await panel.settled();
    const seconds = (performance.now() - started) / 1000;
    const { heap, nodes } = await megabytesUsed(panel);
    console.log(`${MEGABYTES} MB in ${seconds.toFixed(1)} s: heap ${heap.toFixed(1)} MB, ${nodes} nodes`);
    // A node of the document takes about half a kilobyte beside the heap.
    expect(heap + nodes / 2048).toBeLessThan(BUDGET_MB);
    expect(nodes).toBeLessThan(20_000);
    expect(await panel.fromEnd()).toBeLessThan(2);
  },
  10 * 60_000,
);

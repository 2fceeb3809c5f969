/** Whatever a child says stays text: nothing runs, nothing is loaded, nothing leads astray. */
import { expect, it } from 'vitest';
import type { PanelItem } from '../../src/protocol/index.ts';
import { panelBrowser } from './host/browser.ts';
import { body, compaction, head, note, question, retry, text, thinking, tool, turn, user } from './host/items.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();

const SCRIPTS = [
  '<script>window.hacked = 1</script>',
  '<img src="https://evil.test/x.png" onerror="window.hacked = 1">',
  '<svg onload="window.hacked = 1"><use href="https://evil.test/x.svg#a"/></svg>',
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
  '<style>body { display: none }</style>',
  '<a href="javascript:window.hacked = 1">click</a>',
  '[click](javascript:window.hacked=1)',
  '[click](JaVaScRiPt:window.hacked=1)',
  '[click](command:workbench.action.quit)',
  '[click](vscode://file/etc/passwd)',
  '[click](data:text/html,<script>window.hacked=1</script>)',
  '![picture](https://evil.test/x.png)',
  '![picture](data:image/png;base64,AAAA)',
  '<command:workbench.action.quit>',
  '[ref]\n\n[ref]: javascript:window.hacked=1',
  '`<b>code</b>`',
  '```html\n<script>window.hacked = 1</script>\n```',
  '&lt;img src=x onerror=window.hacked=1&gt;',
  '[x](https://example.com/"onmouseover="window.hacked=1)',
  '```"><script>window.hacked=1</script>\ncode\n```',
  '[a](<src/"><img src=x onerror=window.hacked=1>.ts>)',
];
const HOSTILE = SCRIPTS.join('\n\n');

function everywhere(said: string): PanelItem[] {
  return [
    user('user', said),
    user('context', said, 'context'),
    text('text', said),
    thinking('thinking', said),
    tool('tool', { name: said, title: said, arguments: body(said), output: body(said), file: { path: said, line: 1 } }),
    tool('live', { state: 'running', output: body(said) }),
    tool('diff', { diff: { lines: [{ kind: 'added', text: said }], cut: false } }),
    turn('turn', { error: said, model: said, stopReason: said }),
    retry('retry', said),
    compaction('compaction', said),
    note('note', said),
  ];
}

it('B65 as markup in every place there is', async () => {
  const more = {
    title: HOSTILE,
    agent: HOSTILE,
    model: HOSTILE,
    activity: HOSTILE,
    stateWord: HOSTILE,
    error: { code: 'internal', message: HOSTILE, hint: HOSTILE } as const,
    questions: [question('q', { title: HOSTILE, message: HOSTILE, options: [HOSTILE] })],
    steering: [{ requestId: 'r', mode: 'steer', preview: HOSTILE, state: 'queued', reason: HOSTILE, at: 1 } as const],
  };
  const panel = await openPanel({ transcript: new ScriptedTranscript(everywhere(HOSTILE), head(more)) });
  const { page } = panel;
  const shown = new Map<string, string>();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await panel.scroller.evaluate((it) => it.scrollTo(0, 0));
  for (const key of [
    'user',
    'context',
    'text',
    'thinking',
    'tool',
    'live',
    'diff',
    'turn',
    'retry',
    'compaction',
    'note',
  ]) {
    await panel.row(key).scrollIntoViewIfNeeded();
    const fold = panel.row(key).locator('[data-fold][aria-expanded="false"]').first();
    if ((await fold.count()) > 0) await fold.click();
    await panel.settled();
    shown.set(key, await panel.row(key).innerText());
    expect(
      await panel
        .row(key)
        .locator('script, img, iframe, style, object, embed, form, [onload], [onerror], [onmouseover]')
        .count(),
      key,
    ).toBe(0);
    const targets = await panel
      .row(key)
      .locator('a')
      .evaluateAll((all) => all.map((it) => it.getAttribute('href') ?? ''));
    for (const target of targets) expect(target, key).toMatch(/^(?:#$|https:\/\/)/);
    for (const link of await panel.row(key).locator('a').all()) await link.click({ force: true });
  }
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(requests).toEqual([]);
  expect(page.url()).toBe('https://panel.test/');
  for (const part of [
    '<script>window.hacked = 1</script>',
    '![picture](https://evil.test/x.png)',
    '[click](command:workbench.action.quit)',
  ])
    expect(shown.get('text')).toContain(part);
});

it('B65 as marks that turn text around', async () => {
  const turned = 'safe \u202e txt.exe \u2066 &#x202e; \u0007 end';
  const panel = await openPanel({ transcript: new ScriptedTranscript(everywhere(turned), head({ title: turned })) });
  await panel.row('note').waitFor();
  const all = await panel.page.evaluate(() => document.body.innerText);
  expect(all).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u0007]/);
  expect(all).toContain('safe \\u202e txt.exe \\u2066');
  expect(all).toContain('\u2407 end');
});

it('B65 as the colours and cursor movements of a terminal', async () => {
  const output =
    '\u001b[31mred\u001b[0m \u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007\n 10 %\r 100 %\nend\u001b[2J\u001b[H';
  const panel = await openPanel({ transcript: new ScriptedTranscript([tool('t', { output: body(output) })]) });
  await panel.row('t').locator('[data-fold]').first().click();
  expect(await panel.row('t').locator('pre.output').innerText()).toBe('red link\n 100 %\nend');
});

it('B65 as a megabyte in one word', async () => {
  const url = `data:image/png;base64,${'A'.repeat(1024 * 1024)}`;
  const transcript = new ScriptedTranscript([text('t', `![x](${url})`), tool('b', { output: body(url, 'url') })]);
  transcript.bodies.set('t', `![x](${url})`);
  const panel = await openPanel({ transcript });
  await panel.row('b').waitFor();
  const started = performance.now();
  await panel.row('t').locator('[data-action="fetch"]').click();
  await panel.row('t').getByText('Fold', { exact: true }).waitFor();
  expect(performance.now() - started).toBeLessThan(5000);
  expect(await panel.row('t').locator('img').count()).toBe(0);
  expect(await panel.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
});

it('B65 as deep nesting and endless structure', async () => {
  const deep = `${'> '.repeat(2000)}deep\n\n${'['.repeat(5000)}\n\n${'- '.repeat(500)}x\n\n${'*'.repeat(5000)}a`;
  const panel = await openPanel({ transcript: new ScriptedTranscript([text('t', deep), note('n', 'after')]) });
  await panel.row('n').waitFor();
  expect(await panel.row('t').locator('[data-broken]').count()).toBe(0);
});

/** What each kind of item shows, and what can be done with it. */
import { describe, expect, it } from 'vitest';
import { type PanelItem, TRANSCRIPT_WORDS } from '../../src/protocol/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { panelBrowser } from './host/browser.ts';
import {
  body,
  compaction,
  gap,
  head,
  image,
  note,
  retry,
  text,
  thinking,
  tool,
  turn,
  usage,
  user,
} from './host/items.ts';
import { SAMPLE } from './host/sample.ts';
import { ScriptedTranscript } from './host/transcript.ts';

const openPanel = panelBrowser();

async function withItems(...items: PanelItem[]) {
  const transcript = new ScriptedTranscript(items);
  const panel = await openPanel({ transcript });
  await panel.row(items.at(-1)?.key ?? '').waitFor();
  return panel;
}

/** What a person reads of a row, in one line. */
async function read(panel: Awaited<ReturnType<typeof openPanel>>, key: string): Promise<string> {
  return (await panel.row(key).innerText()).replace(/\s+/g, ' ').trim();
}

/** Waits until a row reads so. */
async function reads(panel: Awaited<ReturnType<typeof openPanel>>, key: string, expected: string): Promise<void> {
  let seen = '';
  const probe = async () => {
    seen = await read(panel, key);
    return seen === expected;
  };
  await waitFor(`${key} to read "${expected}"`, probe, { seen: () => seen });
}

const words = TRANSCRIPT_WORDS;

const READS: [string, PanelItem, string][] = [
  ['a task', user('k', 'Do **this**'), 'Task Do this'],
  ['a steering message', user('k', 'Faster', 'steer'), `${words['user.steer']} Faster`],
  ['a follow-up', user('k', 'Then that', 'follow-up'), `${words['user.followUp']} Then that`],
  ['context', user('k', 'Folder: /x\nmore', 'context'), 'Context Folder: /x'],
  ['an answer', text('k', 'Read `a` and *b*.'), 'Read a and b.'],
  ['a finished thought, folded', thinking('k', '\nFirst this.\nThen that.'), 'Thought First this.'],
  ['a running thought, with its last line', thinking('k', 'First this.\nThen that.', true), 'Thinking… Then that.'],
  ['a finished tool', tool('k', { durationMs: 1530 }), 'bash npm test 1.5s Done'],
  [
    'a running tool with its last lines',
    tool('k', { state: 'running', durationMs: null, output: body('1\n2\n3\n4\n5\n6\n7\n8\n') }),
    'bash npm test Running 3 4 5 6 7 8',
  ],
  [
    'a failed tool with what it said last',
    tool('k', { state: 'failed', durationMs: 65_000, output: body('boom\n') }),
    'bash npm test 1m 05s Failed boom',
  ],
  ['a tool without result', tool('k', { state: 'unfinished', durationMs: null }), 'bash npm test No result'],
  ['the end of an answer', turn('k'), 'anthropic/claude · 12.8k tokens · $0.04'],
  [
    'an answer cut short',
    turn('k', { stopReason: 'length', usage: null }),
    'anthropic/claude · cut at the output limit',
  ],
  ['an error', turn('k', { error: '401 bad key', usage: null, model: null }), '401 bad key'],
  [
    'an end that somebody wanted, which is no error',
    turn('k', { stopReason: 'aborted', error: 'Operation aborted', usage: null }),
    'anthropic/claude · aborted',
  ],
  ['a retry', retry('k', '529 overloaded'), 'Retry 2 of 5 in 4s 529 overloaded'],
  ['a compaction', compaction('k', 'All of it.'), 'Context compacted threshold'],
  ['a running compaction', compaction('k', null, true), 'Compacting the context… threshold'],
  ['a note', note('k', 'The model was changed.'), 'The model was changed.'],
  ['an image', image('k', 'image/png'), 'Image (image/png)'],
  ['a cut', gap('k', 'limit'), `${words['gap.limit']} ${words['gap.other']}`],
  ['damage', gap('k', 'damaged', 3), `3 records that cannot be read were left out here. ${words['gap.other']}`],
];

describe('items', () => {
  it('show what they are', async () => {
    const panel = await withItems(
      ...READS.map(([, item], index) => ({ ...item, key: `k${index}`, cursor: `c${index}` })),
    );
    await panel.scroller.evaluate((it) => it.scrollTo(0, 0));
    const seen: Record<string, string> = {};
    for (const [index, [name]] of READS.entries()) {
      await panel.row(`k${index}`).scrollIntoViewIfNeeded();
      seen[name] = await read(panel, `k${index}`);
    }
    expect(seen).toEqual(Object.fromEntries(READS.map(([name, , expected]) => [name, expected])));
  });

  it('unfold: thoughts, arguments and output', async () => {
    const panel = await withItems(
      thinking('k', 'First **this**.\n\nThen that.'),
      tool('b', { output: body('hello\n') }),
    );
    await panel.row('k').locator('[data-fold]').click();
    await reads(panel, 'k', 'Thought First this. Then that.');
    await panel.row('k').locator('[data-fold]').click();
    await reads(panel, 'k', 'Thought First this.');
    await panel.row('b').locator('[data-fold]').first().click();
    await reads(panel, 'b', 'bash npm test 1.5s Done Arguments { "command": "npm test" } Output hello');
  });

  it('show edits as a diff with counts, and the file at its line', async () => {
    const lines = [
      { kind: 'removed', text: 'old' },
      { kind: 'added', text: 'new' },
      { kind: 'added', text: '  newer' },
    ] as const;
    const file = { path: 'src/a.ts', line: 7 };
    const panel = await withItems(
      tool('e', { name: 'edit', title: 'src/a.ts', file, diff: { lines: [...lines], cut: true } }),
    );
    expect(await panel.row('e').locator('.counts').innerText()).toBe('+2 -1');
    expect(await panel.row('e').locator('.diff .line').allInnerTexts()).toEqual(['-\nold', '+\nnew', '+\n  newer']);
    expect(await panel.row('e').innerText()).toContain(words['diff.cut']);
    await panel.row('e').locator('[data-action="open-file"]').click();
    expect(await panel.waitForMessage('open.file')).toEqual({ type: 'open.file', path: 'src/a.ts', line: 7 });
  });

  it('show a long diff in part until all of it is wanted', async () => {
    const lines = Array.from({ length: 500 }, (_, n) => ({ kind: 'added' as const, text: `line ${n}` }));
    const panel = await withItems(tool('e', { name: 'write', diff: { lines, cut: false } }));
    await panel.row('e').locator('[data-fold]').first().click();
    await panel.row('e').getByText('Show all 500 lines').waitFor();
    expect(await panel.row('e').locator('.diff .line').count()).toBe(200);
    await panel.row('e').getByText('Show all 500 lines').click();
    await panel.row('e').locator('.diff .line').nth(499).waitFor();
  });

  it('say what an answer cost when asked', async () => {
    const panel = await withItems(turn('x', { usage: { ...usage(1000, 20, 0.01), cacheRead: 500 } }));
    expect(await panel.row('x').locator('.small').getAttribute('title')).toContain('read from cache 500');
  });

  it('lead to files and web pages, and to nothing else', async () => {
    const panel = await withItems(
      text(
        't',
        'See src/a.ts:12, `lib/b.js`, [c](docs/c.md#L3), [web](https://example.com/x) and readme.md, and/or either.',
      ),
    );
    const links = panel.row('t').locator('a');
    expect(await links.allInnerTexts()).toEqual(['src/a.ts:12', 'lib/b.js', 'c', 'web']);
    for (let n = 0; n < 4; n += 1) await links.nth(n).click();
    await panel.waitForMessage('open.link');
    expect(panel.messages('open.file')).toEqual([
      { type: 'open.file', path: 'src/a.ts', line: 12 },
      { type: 'open.file', path: 'lib/b.js', line: null },
      { type: 'open.file', path: 'docs/c.md', line: 3 },
    ]);
    expect(panel.messages('open.link')).toEqual([{ type: 'open.link', url: 'https://example.com/x' }]);
    expect(panel.page.url()).toBe('https://panel.test/');
  });

  it('are copied, and so are their code blocks', async () => {
    const panel = await withItems(text('t', 'Run\n\n```sh\nnpm test\n```\n'));
    await panel.row('t').hover();
    await panel.row('t').locator('[data-action="copy-code"]').click();
    await panel.row('t').locator('[data-action="copy-item"]').click();
    await panel.waitForMessage('copy', 2);
    expect(panel.messages('copy').map((message) => message.text)).toEqual([
      'npm test\n',
      'Run\n\n```sh\nnpm test\n```\n',
    ]);
  });

  it('colour code when there is time', async () => {
    const panel = await withItems(text('t', '```ts\nconst a = "b";\n```\n'));
    await panel.row('t').locator('.hljs-string').waitFor();
    expect(await panel.row('t').locator('pre').innerText()).toBe('const a = "b";\n');
  });
});

describe('long bodies', () => {
  const long = Array.from({ length: 8000 }, (_, n) => `line ${n}`).join('\n');

  it('are fetched when a person asks, and folded again', async () => {
    const transcript = new ScriptedTranscript([tool('b', { output: body(long, 'long') })]);
    transcript.bodies.set('long', long);
    const panel = await openPanel({ transcript });
    const row = panel.row('b');
    await row.locator('[data-fold]').first().click();
    expect(await row.innerText()).not.toContain('line 7999');
    expect(panel.messages('body.fetch')).toEqual([]);
    await row.locator('[data-action="fetch"]').click();
    await row.getByText('Fold', { exact: true }).waitFor();
    expect(await row.locator('pre.output').innerText()).toContain('line 7999');
    await row.getByText('Fold', { exact: true }).click();
    await row.locator('[data-action="fetch"]').waitFor();
    await row.locator('[data-action="fetch"]').waitFor();
    expect(await row.locator('pre.output').innerText()).not.toContain('line 7999');
    await row.getByText(words['body.open']).click();
    expect(await panel.waitForMessage('open.body')).toEqual({ type: 'open.body', ref: 'long', title: 'bash npm test' });
  });

  it('say when the rest is gone', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript([text('t', long)]) });
    await panel.row('t').locator('[data-action="fetch"]').click();
    await panel.row('t').getByText(words['body.missing']).waitFor();
  });

  it('of many megabytes are shown in part, the rest in an editor', async () => {
    const huge = long.repeat(40);
    const transcript = new ScriptedTranscript([tool('b', { output: body(huge, 'huge') })]);
    transcript.bodies.set('huge', huge);
    const panel = await openPanel({ transcript });
    await panel.row('b').locator('[data-fold]').first().click();
    await panel.row('b').getByText('Show 1.0 MB').click();
    await panel.row('b').getByText('1.0 MB of').waitFor();
    expect(panel.messages('body.fetch')[0]?.limit).toBe(1024 * 1024);
  });
});

describe('what goes wrong', () => {
  it('with one item is shown in its place, and the others stay', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript([note('a', 'before')]) });
    await panel.row('a').waitFor();
    await panel.page.evaluate(() => {
      const original = DocumentFragment.prototype.querySelectorAll;
      DocumentFragment.prototype.querySelectorAll = function (this: DocumentFragment, selector: string) {
        if (this.textContent?.includes('BOOM')) throw new Error('no way to draw this');
        return original.call(this, selector);
      };
    });
    await panel.delta({ added: [text('bad', 'BOOM'), note('b', 'after')] });
    await panel.row('b').waitFor();
    expect(await read(panel, 'bad')).toContain('This item cannot be shown: no way to draw this');
    await reads(panel, 'a', 'before');
    await panel.row('bad').getByText(words['head.openText']).click();
    expect(await panel.waitForMessage('command')).toEqual({ type: 'command', name: 'open-text' });
    await panel.delta({ changed: [text('bad', 'fine')] });
    await panel.row('bad').getByText('fine').waitFor();
    expect(panel.errors.splice(0)).toEqual([expect.stringContaining('bad cannot be drawn')]);
  });

  it('with a message is told, and the page goes on', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript(SAMPLE) });
    await panel.postRaw({ type: 'delta', changed: 'nonsense' });
    await panel.page.locator('.banner').getByText('changed').waitFor();
    await panel.page.locator('.banner button').click();
    await panel.delta({ added: [note('new', 'still here')] });
    await panel.row('new').waitFor();
    expect(await panel.page.locator('.banner').count()).toBe(0);
  });

  it('in the extension is told with its next step', async () => {
    const panel = await openPanel();
    const error = { code: 'run_unreadable', message: 'The journal cannot be read.', hint: 'Check the disk.' } as const;
    await panel.post({ type: 'failed', request: null, error });
    await panel.page.locator('.banner').waitFor();
    expect(await panel.page.locator('.banner > span').nth(1).innerText()).toBe(
      'The journal cannot be read. Check the disk. (run_unreadable)',
    );
  });
});

describe('a transcript that cannot be had', () => {
  const error = { code: 'run_unreadable', message: 'The journal cannot be read.', hint: 'Check the disk.' } as const;

  it('is not waited for any longer', async () => {
    const panel = await openPanel({ silent: true });
    await panel.page.getByText(words['empty.loading']).waitFor();
    await panel.post({ type: 'failed', request: null, error });
    await panel.page.getByText(words['empty.failed']).waitFor();
    await panel.page.locator('.empty vscode-button').click();
    expect(await panel.waitForMessage('command')).toEqual({ type: 'command', name: 'open-text' });
  });

  it('in one part is not asked for again and again', async () => {
    const many = Array.from({ length: 100 }, (_, n) => note(`n${n}`, `${n}`));
    const panel = await openPanel({ transcript: new ScriptedTranscript(many) });
    await panel.row('n99').waitFor();
    panel.silent = true;
    await panel.scroller.evaluate((it) => it.scrollTo(0, 0));
    const { request } = await panel.waitForMessage('page');
    await panel.post({ type: 'failed', request, error });
    await panel.page.locator('.banner').getByText('The journal cannot be read.').waitFor();
    for (let n = 0; n < 10; n += 1) {
      await panel.scroller.evaluate((it, top) => it.scrollTo(0, top), n * 3);
      await panel.settled();
    }
    expect(panel.messages('page')).toHaveLength(1);
  });

  it('while something is sought is told', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript([note('n', 'n')]) });
    await panel.row('n').waitFor();
    panel.silent = true;
    await panel.page.keyboard.press('Control+f');
    await panel.page.keyboard.type('x');
    const { request } = await panel.waitForMessage('find');
    await panel.post({ type: 'failed', request, error });
    await panel.page.locator('.banner').getByText('The journal cannot be read.').waitFor();
  });
});

describe('the head', () => {
  it('says whose transcript it is and how the run stands', async () => {
    const panel = await openPanel();
    await panel.page.locator('header h1').waitFor();
    const shown = (await panel.page.locator('header').innerText()).replace(/\s+/g, ' ');
    expect(shown).toBe(
      'Running Make the parser skip comments thinking worker anthropic/claude-sonnet-4-5 1m 23s 44.2k tokens · $0.18 23 %',
    );
    const meter = panel.page.getByRole('meter', { name: words['gauge.name'] });
    expect(await meter.getAttribute('aria-valuetext')).toBe('23 % of the context: 46.0k of 200.0k tokens');
  });

  it('offers what the run takes now, and sends it', async () => {
    const panel = await openPanel();
    const toolbar = panel.page.getByRole('toolbar');
    await toolbar.waitFor();
    const names = () =>
      toolbar.locator('[data-command]').evaluateAll((all) => all.map((it) => it.getAttribute('data-command')));
    expect(await names()).toEqual(['interrupt', 'stop', 'switch-source', 'open-text', 'find']);
    for (const name of ['interrupt', 'stop', 'switch-source', 'open-text'])
      await toolbar.locator(`[data-command="${name}"]`).click();
    await panel.waitForMessage('command', 4);
    expect(panel.messages('command').map(({ name }) => name)).toEqual([
      'interrupt',
      'stop',
      'switch-source',
      'open-text',
    ]);
    const can = { steer: false, interrupt: false, stop: false, forceStop: true, resume: true };
    await panel.delta({
      head: head({ can, state: 'unresponsive', stateWord: 'Unresponsive', source: { kind: 'session', other: false } }),
    });
    await toolbar.locator('[data-command="force-stop"]').waitFor();
    expect(await names()).toEqual(['resume', 'force-stop', 'open-text', 'find']);
  });

  it('lets the time go on while the run lives', async () => {
    const panel = await openPanel({
      transcript: new ScriptedTranscript([], head({ startedAt: Date.now() - 5000, endedAt: null })),
    });
    const time = panel.page.locator('.fact', { hasText: /^\d+s$/ });
    const first = await time.innerText();
    await panel.page.waitForFunction(
      (before) =>
        [...document.querySelectorAll('.fact')].some(
          (it) => /^\d+s$/.test(it.textContent ?? '') && it.textContent !== before,
        ),
      first,
    );
  });
});

describe('without items', () => {
  it('the page loads, waits, or says that there is nothing and what to do', async () => {
    const panel = await openPanel({ transcript: new ScriptedTranscript([], head()) });
    await panel.page.getByText(words['empty.waiting']).waitFor();
    await panel.delta({ head: head({ state: 'failed', stateWord: 'Failed' }) });
    await panel.page.getByText(words['empty.nothing']).waitFor();
    await panel.page.locator('.empty vscode-button').first().click();
    expect(await panel.waitForMessage('command')).toEqual({ type: 'command', name: 'switch-source' });
    await panel.delta({ head: head(), added: [note('n', 'here it is')] });
    await panel.row('n').waitFor();
    expect(await panel.page.locator('.empty').count()).toBe(0);
  });

  it('speaks the language it was given', async () => {
    const panel = await openPanel({ words: { ...words, 'empty.waiting': 'Warten auf <b>den</b> Agenten…' } });
    await panel.page.getByText('Warten auf <b>den</b> Agenten…').waitFor();
  });
});

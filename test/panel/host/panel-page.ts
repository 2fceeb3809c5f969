/** The transcript page in a real browser, with a host that stands in for VS Code and the extension. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import * as z from 'zod/mini';
import {
  type FromTranscriptPanel,
  fromTranscriptPanel,
  type ToTranscriptPanel,
  TRANSCRIPT_WORDS,
  type TranscriptPanelState,
} from '../../../src/protocol/index.ts';
import { projectRoot } from '../../support/project-root.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ScriptedTranscript } from './transcript.ts';

export const THEMES = ['dark-modern', 'light-modern', 'hc-dark', 'hc-light'] as const;
export type Theme = (typeof THEMES)[number];

const capturedTheme = z.object({
  bodyClass: z.string(),
  bodyData: z.record(z.string(), z.string()),
  variables: z.record(z.string(), z.string()),
  defaultStyles: z.nullable(z.string()),
});

export const SUBJECT: TranscriptPanelState['subject'] = { kind: 'run', directory: '/runs/one', child: 0 };

export interface PanelOptions {
  readonly transcript?: ScriptedTranscript;
  readonly theme?: Theme;
  readonly size?: { readonly width: number; readonly height: number };
  /** What VS Code kept of an earlier page. */
  readonly state?: unknown;
  readonly words?: Record<string, string>;
  /** Answers nothing at first. */
  readonly silent?: boolean;
  /** Where the built page is. */
  readonly dist: string;
}

const ORIGIN = 'https://panel.test';

export class PanelPage implements AsyncDisposable {
  readonly page: Page;
  readonly transcript: ScriptedTranscript;
  /** Everything the page said, oldest first. */
  readonly said: FromTranscriptPanel[] = [];
  /** What the content security policy stopped, and errors of the page: none, unless a test wants some. */
  readonly violations: string[] = [];
  readonly errors: string[] = [];
  state: unknown;
  /** Answers are held back while this is set. */
  silent = false;

  private constructor(page: Page, options: PanelOptions) {
    this.page = page;
    this.transcript = options.transcript ?? new ScriptedTranscript([]);
    this.state = options.state;
    this.silent = options.silent ?? false;
  }

  static async open(browser: BrowserContext, options: PanelOptions): Promise<PanelPage> {
    const page = await browser.newPage();
    const panel = new PanelPage(page, options);
    await panel.#prepare(options);
    await page.goto(ORIGIN);
    await panel.waitForMessage('ready');
    return panel;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
  }

  /** The row of an item. */
  row(key: string): Locator {
    return this.page.locator(`.row[data-key="${key}"]`);
  }

  get scroller(): Locator {
    return this.page.locator('.scroller');
  }

  /** Says something to the page, as the extension does. */
  async post(message: ToTranscriptPanel): Promise<void> {
    await this.postRaw(message);
  }

  async postRaw(message: unknown): Promise<void> {
    await this.page.evaluate((data) => window.postMessage(data, '*'), message);
  }

  async delta(change: Partial<Extract<ToTranscriptPanel, { type: 'delta' }>>): Promise<void> {
    await this.post({ type: 'delta', changed: [], grown: [], removed: [], added: [], ...change });
  }

  /** Messages of one type that the page sent so far. */
  messages<Type extends FromTranscriptPanel['type']>(type: Type): Extract<FromTranscriptPanel, { type: Type }>[] {
    return this.said.filter(
      (message): message is Extract<FromTranscriptPanel, { type: Type }> => message.type === type,
    );
  }

  async waitForMessage<Type extends FromTranscriptPanel['type']>(type: Type, count = 1) {
    return await waitFor(`message ${count} of type ${type}`, () => this.messages(type)[count - 1], {
      seen: () => this.said.map((message) => message.type),
    });
  }

  /** Two frames have been drawn since. */
  async settled(): Promise<void> {
    await this.page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
  }

  async scrollTop(): Promise<number> {
    return await this.scroller.evaluate((element) => element.scrollTop);
  }

  /** Pixels between the view's lower edge and the end of the list. */
  async fromEnd(): Promise<number> {
    return await this.scroller.evaluate((it) => it.scrollHeight - it.clientHeight - it.scrollTop);
  }

  /** Scrolls as a person does, with the wheel over the list. */
  async wheel(pixels: number): Promise<void> {
    const box = await this.scroller.boundingBox();
    if (!box) throw new Error('the list is not shown');
    await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await this.page.mouse.wheel(0, pixels);
  }

  async screenshot(name: string): Promise<string> {
    const folder = process.env['PI_LANES_SHOTS'] || join(projectRoot(), 'artifacts', 'shots');
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  async #prepare(options: PanelOptions): Promise<void> {
    const { page } = this;
    const theme = readTheme(options.theme ?? 'dark-modern');
    await page.setViewportSize(options.size ?? { width: 900, height: 700 });
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    await page.exposeFunction('hostReceive', (message: unknown) => this.#receive(message));
    await page.exposeFunction('hostState', (state: unknown) => {
      this.state = state;
    });
    await page.exposeFunction('hostViolation', (what: string) => {
      this.violations.push(what);
    });
    await page.addInitScript(standIn, {
      state: options.state ?? null,
      variables: theme.variables,
      styles: theme.defaultStyles ?? '',
    });
    await page.route(`${ORIGIN}/**`, async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/') await route.fulfill({ contentType: 'text/html', body: pageHtml(theme, options.words) });
      else if (pathname === '/transcript.js' || pathname === '/transcript.css')
        await route.fulfill({ path: join(options.dist, 'webview', pathname) });
      else await route.fulfill({ status: 404 });
    });
  }

  async #receive(data: unknown): Promise<void> {
    const message = fromTranscriptPanel.parse(data);
    this.said.push(message);
    if (this.silent) return;
    for (const answer of this.transcript.answers(message)) await this.post(answer);
  }
}

/** What VS Code puts around a webview's document; runs in the page, before anything of it. */
function standIn(given: { state: unknown; variables: Record<string, string>; styles: string }): void {
  let { state } = given;
  let acquired = false;
  window.acquireVsCodeApi = () => {
    if (acquired) throw new Error('the API is acquired once');
    acquired = true;
    return {
      postMessage: (message: unknown) => window.hostReceive(structuredClone(message)),
      getState: () => state,
      setState: (next: unknown) => {
        state = structuredClone(next);
        window.hostState(state);
      },
    };
  };
  document.addEventListener('securitypolicyviolation', (event) =>
    window.hostViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
  );
  const sheet = new CSSStyleSheet();
  const variables = Object.entries(given.variables).map(([name, value]) => `${CSS.escape(name)}: ${value};`);
  sheet.replaceSync(`:root { ${variables.join(' ')} } ${given.styles}`);
  document.adoptedStyleSheets = [sheet];
}

function readTheme(name: Theme): z.infer<typeof capturedTheme> {
  const file = join(import.meta.dirname, '..', 'themes', `${name}.json`);
  return capturedTheme.parse(JSON.parse(readFileSync(file, 'utf8')));
}

function pageHtml(theme: z.infer<typeof capturedTheme>, words: Record<string, string> = TRANSCRIPT_WORDS): string {
  const nonce = 'b2x5LWZvci10ZXN0cw';
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${ORIGIN}; font-src ${ORIGIN}; base-uri 'none'; form-action 'none'`;
  const json = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c');
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Transcript</title>
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <link rel="stylesheet" href="${ORIGIN}/transcript.css"></head>
    <body class="${theme.bodyClass}"><main id="page"></main>
    <script type="application/json" id="subject">${json(SUBJECT)}</script>
    <script type="application/json" id="words">${json(words)}</script>
    <script nonce="${nonce}" src="${ORIGIN}/transcript.js"></script></body></html>`;
}

import type { Frame, Page } from 'playwright-core';

/** Contents of webview panels and webview views. */
export class Webviews {
  private readonly page: Page;
  private readonly deadlineMs: number;

  constructor(page: Page, deadlineMs: number) {
    this.page = page;
    this.deadlineMs = deadlineMs;
  }

  /** The inner frame of the webview whose document has this title; waits for it to appear. */
  async frame(title: string): Promise<Frame> {
    const deadline = performance.now() + this.deadlineMs;
    while (performance.now() < deadline) {
      for (const frame of this.page.frames()) {
        if (isWebviewContent(frame) && (await titleOf(frame)) === title) return frame;
      }
      await this.page.waitForTimeout(50);
    }
    throw new Error(`no webview with the document title "${title}" within ${this.deadlineMs / 1000} s`);
  }
}

/** VS Code nests two frames; the inner one, which holds the extension's document, is loaded from this page. */
export function isWebviewContent(frame: Frame): boolean {
  return frame.url().includes('/fake.html');
}

async function titleOf(frame: Frame): Promise<string | undefined> {
  try {
    return await frame.title();
  } catch {
    return undefined; // it went away meanwhile
  }
}

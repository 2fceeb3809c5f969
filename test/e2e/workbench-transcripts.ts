import type { Frame, Locator, Page } from 'playwright-core';
import { isWebviewContent } from './workbench-webviews.ts';

const LOOK_MS = 50;

/** Transcript panels, found by the title of their run. A page is made anew by a reload: it is looked up for each step. */
export class Transcripts {
  private readonly page: Page;
  private readonly deadlineMs: number;

  constructor(page: Page, deadlineMs: number) {
    this.page = page;
    this.deadlineMs = deadlineMs;
  }

  /** The page that shows this run, when it shows `text` and the run is in a state with this `word`. */
  async waitFor(
    title: RegExp,
    shown: { text?: RegExp; word?: string } = {},
    deadlineMs = this.deadlineMs,
  ): Promise<Frame> {
    const deadline = performance.now() + deadlineMs;
    let seen = 'no transcript panel';
    while (performance.now() < deadline) {
      for (const frame of this.page.frames()) {
        if (!isWebviewContent(frame)) continue;
        const [heading, word, text] = await Promise.all([
          textOf(frame.locator('h1')),
          textOf(frame.locator('.run-state')),
          textOf(frame.locator('.list-area')),
        ]);
        if (heading === undefined || !title.test(heading)) continue;
        seen = `${word}: ${text}`;
        if ((shown.word === undefined || word === shown.word) && (shown.text?.test(text ?? '') ?? true)) return frame;
      }
      await this.page.waitForTimeout(LOOK_MS);
    }
    throw new Error(
      `no transcript ${title} with ${JSON.stringify({ ...shown, text: String(shown.text) })}; seen: ${seen}`,
    );
  }

  /** Writes into the box at the foot and sends it. */
  async say(title: RegExp, message: string): Promise<void> {
    const box = steerBox(await this.waitFor(title));
    await box.click();
    await box.pressSequentially(message);
    await box.press('Enter');
  }
}

export function steerBox(frame: Frame): Locator {
  return frame.locator('footer textarea');
}

/** What is shown now; `undefined` when there is none, or the page is just going away. */
async function textOf(locator: Locator): Promise<string | undefined> {
  try {
    const [text] = await locator.allInnerTexts();
    return text?.trim();
  } catch {
    return undefined;
  }
}

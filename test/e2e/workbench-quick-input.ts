import type { Locator, Page } from 'playwright-core';
import { exactly } from './text-patterns.ts';

const LEAVE_DEADLINE_MS = 15_000;

/** The box at the top of the window: command palette, quick picks and input boxes. */
export class QuickInput {
  private readonly page: Page;
  private readonly box: Locator;

  constructor(page: Page) {
    this.page = page;
    this.box = page.locator('.quick-input-widget');
  }

  /** Waits until the box shows this title; `timeout` in ms. */
  async waitForTitle(title: string | RegExp, timeout?: number): Promise<void> {
    await this.box.locator('.quick-input-title', { hasText: exactly(title) }).waitFor({ timeout });
  }

  /** Types into the box in place of what stands there; `timeout` in ms. */
  async fill(text: string, timeout?: number): Promise<void> {
    await this.box.locator('input[type="text"]').fill(text, { timeout });
  }

  /** A row of the list by its whole label. */
  row(label: string | RegExp): Locator {
    const labels = this.page.locator('.quick-input-list-label .label-name, .quick-input-list-entry .label-name');
    return this.box
      .locator('.monaco-list-row')
      .filter({ has: labels.filter({ hasText: exactly(label) }) })
      .first();
  }

  /**
   * Waits for a row, chooses it, and waits until the list is gone or another box has taken its place: what is typed next
   * is meant for that one. `timeout` in ms is for the row to appear.
   */
  async pick(label: string | RegExp, timeout?: number): Promise<void> {
    const row = this.row(label);
    await row.waitFor({ timeout });
    const list = await this.face();
    await row.click({ timeout });
    const deadline = performance.now() + LEAVE_DEADLINE_MS;
    while ((await this.face()) === list) {
      if (performance.now() > deadline) throw new Error(`the list still stands there after "${label}" was picked`);
      await this.page.waitForTimeout(20);
    }
  }

  /** Ticks rows of a list in which several can be chosen, and accepts. */
  async pickSeveral(labels: readonly (string | RegExp)[]): Promise<void> {
    for (const label of labels) await this.row(label).click();
    await this.accept();
  }

  /** The labels of the rows in view. */
  async labels(): Promise<string[]> {
    const rows = this.box.locator('.monaco-list-row');
    await rows.first().waitFor();
    return await rows.locator('.label-name').allTextContents();
  }

  /** Waits until the box says `text` below the input: a validation message or the prompt. */
  async waitForMessage(text: string | RegExp): Promise<void> {
    await this.box.locator('.quick-input-message', { hasText: text }).waitFor();
  }

  /** Presses Enter in the box. */
  async accept(): Promise<void> {
    await this.box.locator('input[type="text"]').press('Enter');
  }

  /** Dismisses the box; does nothing when there is none. */
  async cancel(): Promise<void> {
    if (!(await this.box.isVisible())) return;
    await this.page.keyboard.press('Escape');
    await this.box.waitFor({ state: 'hidden' });
  }

  /** What tells one box from another; nothing when there is none. */
  private async face(): Promise<string> {
    if (!(await this.box.isVisible())) return '';
    const placeholder = await this.box.locator('input[type="text"]').getAttribute('placeholder');
    return `${placeholder}\n${await this.box.textContent()}`;
  }
}

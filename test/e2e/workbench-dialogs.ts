import type { Locator, Page } from 'playwright-core';

/** Modal questions, as `showWarningMessage(…, { modal: true })` asks them. */
export class Dialogs {
  private readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** A dialog that shows `text` as its message or detail. */
  dialog(text: string | RegExp): Locator {
    return this.page.locator('.monaco-dialog-box').filter({ hasText: text });
  }

  /** Waits for a dialog and presses one of its buttons. */
  async answer(text: string | RegExp, button: string): Promise<void> {
    const dialog = this.dialog(text);
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  }
}

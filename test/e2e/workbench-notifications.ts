import type { Locator, Page } from 'playwright-core';

/** Messages in the corner of the window. */
export class Notifications {
  private readonly page: Page;
  private readonly runCommand: (label: string) => Promise<void>;

  constructor(page: Page, runCommand: (label: string) => Promise<void>) {
    this.page = page;
    this.runCommand = runCommand;
  }

  /** A notification that shows `text`. VS Code shows three at a time, and those without buttons for a few seconds. */
  toast(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast').filter({ hasText: text }).first();
  }

  /** Waits for a notification and returns its whole message. */
  async waitFor(text: string | RegExp): Promise<string> {
    const message = this.toast(text).locator('.notification-list-item-message');
    await message.waitFor();
    return (await message.textContent()) ?? '';
  }

  /** Presses a button of a notification. */
  async press(text: string | RegExp, button: string): Promise<void> {
    await this.toast(text).getByRole('button', { name: button, exact: true }).click();
  }

  /** Dismisses every notification, also those that have only gone to the bell. */
  async clear(): Promise<void> {
    await this.runCommand('Notifications: Clear All Notifications');
    await this.page.locator('.notification-toast').first().waitFor({ state: 'detached' });
  }

  /** The messages that have not been dismissed, newest first, also those that no longer show. */
  async all(): Promise<string[]> {
    await this.runCommand('Notifications: Show Notifications');
    const center = this.page.locator('.notifications-center');
    await center.waitFor();
    const messages = await center.locator('.notification-list-item-message').allTextContents();
    await this.runCommand('Notifications: Hide Notifications');
    return messages;
  }
}

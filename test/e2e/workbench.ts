import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { projectRoot } from '../harness/places.ts';
import type { EditorServer } from '../harness/server.ts';
import { type WindowTarget, workbenchUrl } from '../harness/workbench-url.ts';
import { literally, titled, withAnySpaces } from './text-patterns.ts';
import { Dialogs } from './workbench-dialogs.ts';
import { Notifications } from './workbench-notifications.ts';
import { QuickInput } from './workbench-quick-input.ts';
import { Transcripts } from './workbench-transcripts.ts';
import { Trees } from './workbench-trees.ts';
import { Webviews } from './workbench-webviews.ts';

/** For the first paint on a machine that is busy with other work. */
const PAINT_DEADLINE_MS = 60_000;
/** For everything after it. */
const STEP_DEADLINE_MS = 15_000;
/** For one of several tries within a step. */
const TRY_MS = 2_000;
/** VS Code in a browser writes layout, mementos and trust a moment after they change, not when the page is left. */
const STATE_WRITTEN_MS = 1_000;

/** The themes that every panel is looked at in, by their labels, and the class by which the workbench shows each. */
export const THEMES = {
  'Dark Modern': 'vs-dark',
  'Light Modern': 'vs',
  'Dark High Contrast': 'hc-black',
  'Light High Contrast': 'hc-light',
} as const;

export type Theme = keyof typeof THEMES;

/**
 * One VS Code window as a person sees and uses it. Every method waits by condition and fails at a deadline with what it
 * was waiting for.
 */
export class Workbench {
  readonly page: Page;
  readonly quickInput: QuickInput;
  readonly trees: Trees;
  readonly notifications: Notifications;
  readonly dialogs: Dialogs;
  readonly webviews: Webviews;
  readonly transcripts: Transcripts;

  private isCrashed = false;

  private constructor(page: Page) {
    this.page = page;
    page.on('crash', () => {
      this.isCrashed = true;
    });
    this.quickInput = new QuickInput(page);
    this.trees = new Trees(page);
    this.notifications = new Notifications(page, (title) => this.command(title));
    this.dialogs = new Dialogs(page);
    this.webviews = new Webviews(page, STEP_DEADLINE_MS);
    this.transcripts = new Transcripts(page, STEP_DEADLINE_MS);
  }

  /** Opens a window and waits until it is painted. Extensions may still be starting then: wait for a sign of yours. */
  static async open(context: BrowserContext, server: EditorServer, target: WindowTarget): Promise<Workbench> {
    // A browser starts with one blank page; further windows get pages of their own.
    const blank = context.pages().find((page) => page.url() === 'about:blank');
    const page = blank ?? (await context.newPage());
    page.setDefaultTimeout(STEP_DEADLINE_MS);
    await page.goto(workbenchUrl(server.url, target), { waitUntil: 'commit' });
    const workbench = new Workbench(page);
    await workbench.painted();
    return workbench;
  }

  /** Loads the window again, as "Developer: Reload Window" does, and waits until it is painted. */
  async reload(): Promise<void> {
    await this.stateWritten();
    await this.page.reload({ waitUntil: 'commit' });
    await this.painted();
  }

  /**
   * Leaves the window in an orderly way: its extension host deactivates the extensions and ends. `forget` leaves at
   * once, for homes that nobody opens again.
   */
  async close({ forget = false } = {}): Promise<void> {
    if (this.page.isClosed()) return;
    if (this.isCrashed) {
      await this.page.close();
      return;
    }
    if (!forget) await this.stateWritten();
    await this.page.goto('about:blank');
    await this.page.close();
  }

  /** Runs a command through the palette, by its whole label: `Category: Title`. */
  async command(label: string): Promise<void> {
    await this.pickAfter('F1', `>${label}`, label);
  }

  /** Opens a file of the workspace in an editor, by its name. */
  async openFile(name: string): Promise<void> {
    await this.pickAfter('Control+P', name, name);
    await this.tab(name).waitFor();
  }

  /** Shows a view container of the activity bar; does nothing when it is already shown. */
  async openContainer(title: string): Promise<void> {
    // The name carries the key binding, where there is one.
    const name = new RegExp(`^${literally(title)}( \\(.*\\))?$`);
    const button = this.page.locator('.activitybar').getByRole('tab', { name });
    await button.waitFor();
    // A click on the shown container would hide it.
    if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click();
    await button.and(this.page.locator('[aria-expanded="true"]')).waitFor();
  }

  /** A status bar item by its visible text. */
  statusBarItem(text: string | RegExp): Locator {
    return this.page.locator('.statusbar-item').filter({ hasText: text }).first();
  }

  /** An editor tab by its title, in any editor group. */
  tab(title: string): Locator {
    return this.page.locator('.tabs-container').getByRole('tab', { name: titled(title) });
  }

  async closeTab(title: string): Promise<void> {
    const tab = this.tab(title).first();
    await tab.click();
    await this.command('View: Close Editor');
    await tab.waitFor({ state: 'detached' });
  }

  /** The text of the active editor, as far as it is scrolled into view: VS Code draws no other lines. */
  async editorText(): Promise<string> {
    return await visibleText(this.page.locator('.editor-group-container.active .monaco-editor .view-line'));
  }

  /** Waits until the active editor shows `text`. */
  async waitForEditorText(text: string | RegExp): Promise<void> {
    const lines = this.page.locator('.editor-group-container.active .monaco-editor .view-lines');
    await lines
      .filter({ hasText: withAnySpaces(text) })
      .first()
      .waitFor();
  }

  /** Shows an output channel, waits until it has `text` and returns what is in view. */
  async outputText(channel: string, text: string | RegExp): Promise<string> {
    await this.retry(async () => {
      await this.command('Output: Show Output Channels...');
      await this.quickInput.pick(channel, TRY_MS);
    });
    const output = this.page.locator('.output-view');
    await output
      .locator('.view-line', { hasText: withAnySpaces(text) })
      .first()
      .waitFor();
    return await visibleText(output.locator('.view-line'));
  }

  /** Switches the colour theme, as a person does, and waits until it shows. */
  async setTheme(theme: Theme): Promise<void> {
    await this.command('Preferences: Color Theme');
    await this.quickInput.fill(theme);
    await this.quickInput.pick(theme);
    await this.page.locator(`.monaco-workbench.${THEMES[theme]}`).waitFor();
  }

  /** Trusts the open folder or workspace, for sessions in which VS Code asks. */
  async trustWorkspace(): Promise<void> {
    await this.command('Workspaces: Manage Workspace Trust');
    await this.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
    await this.statusBarItem('Restricted Mode').waitFor({ state: 'hidden' });
  }

  /** Writes a picture of the window to `<name>.png` in PI_LANES_SHOTS or artifacts/e2e; returns its path. */
  async screenshot(name: string): Promise<string> {
    const folder = process.env.PI_LANES_SHOTS || join(projectRoot, 'artifacts', 'e2e');
    const path = join(folder, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  private async pickAfter(key: string, filter: string, label: string): Promise<void> {
    await this.retry(async () => {
      await this.page.keyboard.press(key);
      await this.quickInput.fill(filter, TRY_MS);
      await this.quickInput.pick(label, TRY_MS);
    });
  }

  /**
   * Repeats something that opens a list and picks from it. The list shows what was known when it opened, and it closes
   * when something that was under way takes the focus.
   */
  private async retry(pick: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + STEP_DEADLINE_MS;
    for (;;) {
      try {
        return await pick();
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await this.quickInput.cancel();
      }
    }
  }

  private async stateWritten(): Promise<void> {
    await this.page.waitForTimeout(STATE_WRITTEN_MS);
  }

  private async painted(): Promise<void> {
    const firstItem = this.page.locator('.monaco-workbench .part.statusbar .statusbar-item').first();
    await firstItem.waitFor({ timeout: PAINT_DEADLINE_MS });
  }
}

/** Lines stand in the page in any order, placed by their `top`, and with no-break spaces. */
async function visibleText(lines: Locator): Promise<string> {
  const placed = await lines.evaluateAll((elements: { style: { top: string }; textContent: string }[]) =>
    elements.map((element) => ({ top: Number.parseFloat(element.style.top), text: element.textContent })),
  );
  const ordered = placed.toSorted((a, b) => a.top - b.top);
  return ordered.map((line) => line.text.replaceAll('\u00a0', ' ')).join('\n');
}

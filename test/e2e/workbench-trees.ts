import type { Locator, Page } from 'playwright-core';
import { literally } from './text-patterns.ts';

/** VS Code takes the release of the right button for a click on the menu unless the menu has stood this long. */
const MENU_SETTLES_MS = 200;

/** What VS Code adds to the name of a row with inline buttons. */
const NOTE = /, has actions$/;

/** The little of the page's elements that is used here; the project compiles without the DOM's types. */
interface RowElement {
  getAttribute(name: string): string | null;
  getBoundingClientRect(): { top: number };
}

/** Tree views of the side bar and the panel. */
export class Trees {
  private readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /**
   * A row by its accessible name: the item's `accessibilityInformation.label`, else its tooltip, else label and
   * description. `view` is the view's title, for windows in which several trees are open.
   */
  row(name: string | RegExp, view?: string): Locator {
    const pattern = typeof name === 'string' ? withNote(name) : name;
    return (view ? this.tree(view) : this.page).getByRole('treeitem', { name: pattern }).first();
  }

  /** The accessible names of a view's rows in view, from top to bottom. */
  async rows(view: string): Promise<string[]> {
    const rows = this.tree(view).getByRole('treeitem');
    await rows.first().waitFor();
    const names = await rows.evaluateAll((elements: RowElement[]) =>
      elements
        .toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
        .map((element) => element.getAttribute('aria-label') ?? ''),
    );
    return names.map((name) => name.replace(NOTE, ''));
  }

  /** Opens a view that is closed to its header; does nothing when it is open. */
  async openView(title: string): Promise<void> {
    const header = this.page.getByRole('button', { name: new RegExp(`^${literally(title)}( Section)?$`) });
    await header.first().waitFor();
    if ((await header.first().getAttribute('aria-expanded')) !== 'true') await header.first().click();
    await this.tree(title).waitFor();
  }

  /** Closes a view to its header, to give the others room. */
  async closeView(title: string): Promise<void> {
    const header = this.page.getByRole('button', { name: new RegExp(`^${literally(title)}( Section)?$`) });
    if ((await header.first().getAttribute('aria-expanded')) === 'true') await header.first().click();
    await header.first().and(this.page.locator('[aria-expanded="false"]')).waitFor();
  }

  /** Opens a row's children; does nothing when they are open. */
  async expand(row: Locator): Promise<void> {
    await row.waitFor();
    if ((await row.getAttribute('aria-expanded')) === 'false') await row.locator('.monaco-tl-twistie').click();
    await row.and(this.page.locator('[aria-expanded="true"]')).waitFor();
  }

  /** Presses one of the buttons that a row shows while the mouse is over it. */
  async inlineAction(row: Locator, title: string): Promise<void> {
    await row.hover();
    await row.getByRole('button', { name: title }).click();
  }

  /** Chooses from a row's context menu. */
  async contextAction(row: Locator, title: string): Promise<void> {
    await row.click({ button: 'right' });
    const item = this.page.getByRole('menuitem', { name: title, exact: true });
    await item.waitFor();
    await this.page.waitForTimeout(MENU_SETTLES_MS);
    await item.click();
    await item.waitFor({ state: 'hidden' });
  }

  /** Presses a button in the header of a view. */
  async viewAction(view: string, title: string): Promise<void> {
    await this.tree(view).hover();
    // A container with a single view shows that view's buttons in the header of the side bar.
    const buttons = this.page.getByRole('toolbar', { name: new RegExp(`(^|: )${literally(view)} actions$`) });
    await buttons.getByRole('button', { name: title, exact: true }).click();
  }

  /** The tree of a view, by the view's title. */
  tree(view: string): Locator {
    return this.page.getByRole('tree', { name: view, exact: true });
  }
}

function withNote(name: string): RegExp {
  return new RegExp(`^${literally(name)}(, has actions)?$`);
}

import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../support/wait-for.ts';
import { literally } from './text-patterns.ts';

/** VS Code takes the release of the right button for a click on the menu unless the menu has stood this long. */
const MENU_SETTLES_MS = 200;

/** Between two clicks on the header of a view: one click must have had its effect. */
const TOGGLE_MS = 500;
const VIEW_DEADLINE_MS = 15_000;

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
    await this.setOpen(title, true);
    await this.tree(title).waitFor();
  }

  /** Closes a view to its header, to give the others room. */
  async closeView(title: string): Promise<void> {
    await this.setOpen(title, false);
  }

  /** A window that is still starting may lay its views out once more. The keys open or close, and twice does no harm: a second click would undo the first. */
  private async setOpen(title: string, wanted: boolean): Promise<void> {
    const header = this.page.locator('.pane-header').filter({ has: this.page.getByText(title, { exact: true }) });
    const done = header.first().and(this.page.locator(`[aria-expanded="${wanted}"]`));
    const toggle = async () => {
      if (await done.isVisible()) return true;
      if (await header.first().isVisible()) await header.first().press(wanted ? 'ArrowRight' : 'ArrowLeft');
      return false;
    };
    const options = { timeoutMs: VIEW_DEADLINE_MS, everyMs: TOGGLE_MS };
    await waitFor(`the view ${title} to be ${wanted ? 'open' : 'closed'}`, toggle, options);
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

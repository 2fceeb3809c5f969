import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { type BrowserOptions, openBrowser } from '../harness/browser.ts';
import { injectDevelopment } from '../harness/development.ts';
import { createEditorHome, type EditorHome, type Settings } from '../harness/home.ts';
import { type EditorServer, startEditorServer } from '../harness/server.ts';
import { installExtension } from '../harness/vsix.ts';
import type { WindowTarget } from '../harness/workbench-url.ts';
import { Workbench } from './workbench.ts';

export interface SessionOptions {
  /** What the first window shows. */
  readonly target: WindowTarget;
  /** Packaged extensions to install, as a person has them. */
  readonly vsix?: string | readonly string[];
  /** A folder of extensions that are installed already: the home gets a copy. */
  readonly installed?: string;
  /** Folders of unpacked extensions to load instead. */
  readonly development?: string[];
  readonly settings?: Settings;
  readonly env?: Record<string, string>;
  readonly workspaceTrust?: boolean;
  readonly size?: BrowserOptions['size'];
  /** The home of an earlier session, to reopen it; its extensions, settings and mementos are still there. */
  readonly home?: EditorHome;
}

/** A server with one browser and one window on it; more can be opened. */
export interface Session extends AsyncDisposable {
  readonly home: EditorHome;
  readonly server: EditorServer;
  readonly browser: BrowserContext;
  readonly workbench: Workbench;
  /** Opens a second window in the same browser. */
  openWindow(target: WindowTarget): Promise<Workbench>;
  /** Opens a window in another browser, which shares nothing with the first but the server. */
  openElsewhere(target: WindowTarget): Promise<Workbench>;
  /** Closes the windows in an orderly way, ends browsers and server, and removes the home unless the caller gave it. */
  close(): Promise<void>;
}

/** Starts what a person would have before them: the editor with the extension installed, and a window. */
export async function startSession(options: SessionOptions): Promise<Session> {
  const stack = new AsyncDisposableStack();
  try {
    const home = options.home ?? createEditorHome(options);
    if (!options.home) stack.defer(() => home.remove());
    if (options.installed !== undefined) await cp(options.installed, home.extensions, { recursive: true });
    for (const vsix of [options.vsix ?? []].flat()) await installExtension(home, vsix);
    const server = stack.use(await startEditorServer({ home, env: options.env }));

    let browsers = 0;
    const startBrowser = async () => {
      browsers += 1;
      const browser = await openBrowser({ profile: join(home.folder, `browser-${browsers}`), size: options.size });
      stack.defer(() => browser.close());
      if (options.development) await injectDevelopment(browser, server.url, options.development);
      return browser;
    };
    const openIn = async (browser: BrowserContext, target: WindowTarget) => {
      const workbench = await Workbench.open(browser, server, target);
      stack.defer(() => workbench.close({ forget: !options.home }));
      return workbench;
    };

    const browser = await startBrowser();
    const close = () => stack.disposeAsync();
    return {
      home,
      server,
      browser,
      workbench: await openIn(browser, options.target),
      openWindow: (target) => openIn(browser, target),
      openElsewhere: async (target) => openIn(await startBrowser(), target),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

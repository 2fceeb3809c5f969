import { resolve } from 'node:path';
import type { BrowserContext } from 'playwright-core';

/** The little of the page that the function below touches; the project compiles without the DOM's types. */
declare const Element: { prototype: { getAttribute(this: { id: string }, name: string): string | null } };

interface RemotePath {
  scheme: string;
  authority: string;
  path: string;
}

/**
 * Makes every window that this browser opens from now on load the unpacked extensions in `folders`, without packaging and
 * without the driver, which mutes notification toasts. Rewriting the page on its way instead would cost the workbench its
 * connection: Chromium then no longer takes the page for a local one.
 */
export async function injectDevelopment(context: BrowserContext, serverUrl: string, folders: string[]): Promise<void> {
  const authority = new URL(serverUrl).host;
  const extensions = folders.map((folder) => ({ scheme: 'vscode-remote', authority, path: resolve(folder) }));
  await context.addInitScript(addToConfiguration, extensions);
}

function addToConfiguration(extensions: RemotePath[]): void {
  const read = Element.prototype.getAttribute;
  Element.prototype.getAttribute = function (name) {
    const value = read.call(this, name);
    if (value === null || name !== 'data-settings' || this.id !== 'vscode-workbench-web-configuration') return value;
    const configuration = JSON.parse(value);
    configuration.developmentOptions = { ...configuration.developmentOptions, extensions };
    return JSON.stringify(configuration);
  };
}

import * as vscode from 'vscode';
import { waitFor } from '../support/wait-for.ts';

export const EXTENSION_ID = 'pi-lanes.pi-lanes';

/** Our extension, once it has activated itself. Nothing here activates it. */
export function activeExtension(): Promise<vscode.Extension<unknown>> {
  return waitFor('the extension to activate itself', () => {
    const extension = vscode.extensions.getExtension(EXTENSION_ID);
    return extension?.isActive && extension;
  });
}

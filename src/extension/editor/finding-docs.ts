import * as vscode from 'vscode';
import type { FindingCode } from '../../protocol/index.ts';

/** Where `docs/script-api.md`, which is installed with the extension, explains a code. */
export class FindingDocs {
  readonly #page: vscode.Uri;
  #lines: Map<string, number> | undefined;

  constructor(extensionUri: vscode.Uri) {
    this.#page = vscode.Uri.joinPath(extensionUri, 'docs', 'script-api.md');
  }

  /** Reads the page once. */
  async load(): Promise<void> {
    if (this.#lines) return;
    const bytes = await vscode.workspace.fs.readFile(this.#page).then(undefined, () => new Uint8Array());
    const rows = new TextDecoder().decode(bytes).split('\n');
    this.#lines = new Map(
      rows.flatMap((row, index) => {
        const code = /^\| `(\w+)`/.exec(row)?.[1];
        return code === undefined ? [] : [[code, index + 1]];
      }),
    );
  }

  /** The line of the page; `undefined` before it is loaded, or when it could not be. */
  of(code: FindingCode): vscode.Uri | undefined {
    const line = this.#lines?.get(code);
    return line === undefined ? undefined : this.#page.with({ fragment: `L${line}` });
  }
}

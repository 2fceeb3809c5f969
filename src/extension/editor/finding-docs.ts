import * as vscode from 'vscode';

/** Where a page of the documentation that is installed with the extension explains a code. */
export class FindingDocs {
  readonly #page: vscode.Uri;
  #lines: Map<string, number> | undefined;

  constructor(extensionUri: vscode.Uri, page: 'script-api.md' | 'agents.md') {
    this.#page = vscode.Uri.joinPath(extensionUri, 'docs', page);
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
  of(code: string): vscode.Uri | undefined {
    const line = this.#lines?.get(code);
    return line === undefined ? undefined : this.#page.with({ fragment: `L${line}` });
  }
}

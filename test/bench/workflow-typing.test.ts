/** How long the extension host stands still while somebody types in a long script. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import { activeExtension } from '../host/pi-lanes.ts';
import { waitFor } from '../support/wait-for.ts';

const KEYS = 150;
const KEY_MS = 60;

suite('typing', () => {
  test('in a workflow script of 2,000 lines is measured', async function () {
    this.timeout(120_000);
    await activeExtension();
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const lines = Array.from(
      { length: 1000 },
      (_, at) =>
        `const v${at} = await runs.run('k${at}', { agent: 'scout', task: 'Look at ${at}.' });\nemit(v${at}.output);`,
    );
    const measured: string[] = [];
    // The same keys in a file that is no script: what the editor itself costs.
    for (const name of ['plain.js', 'long.workflow.js']) {
      const uri = vscode.Uri.joinPath(folder.uri, name);
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(lines.join('\n')));
      const editor = await vscode.window.showTextDocument(uri);
      if (name === 'long.workflow.js') {
        await waitFor('the check', () =>
          vscode.languages.getDiagnostics(uri).some(({ source }) => source === 'Pi Lanes'),
        );
      }
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      for (let at = 0; at < KEYS; at += 1) {
        await editor.edit((change) => change.insert(new vscode.Position(1, 0), ' '));
        await new Promise((resolve) => setTimeout(resolve, KEY_MS));
      }
      delay.disable();
      measured.push((delay.percentile(99) / 1e6).toFixed(1));
    }
    console.log(`BENCH typing plain=${measured[0]} script=${measured[1]}`);
  });
});

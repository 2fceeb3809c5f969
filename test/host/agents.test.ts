/** Definitions of agents inside the editor: problems at their lines, on disk and while one types, and who else they concern. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { waitFor } from '../support/wait-for.ts';
import { activeExtension } from './pi-lanes.ts';

const SOURCE = 'Pi Lanes';

function place(name: string): vscode.Uri {
  const [first] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(first);
  return vscode.Uri.joinPath(first.uri, name);
}

async function write(name: string, ...lines: string[]): Promise<vscode.Uri> {
  const uri = place(name);
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(lines.join('\n')));
  return uri;
}

const problems = (uri: vscode.Uri) =>
  vscode.languages
    .getDiagnostics(uri)
    .filter(({ source }) => source === SOURCE)
    .map(({ code, range, severity, message }) => ({
      code: typeof code === 'object' ? code.value : code,
      target: typeof code === 'object' ? code.target : undefined,
      line: range.start.line + 1,
      column: range.start.character + 1,
      severity,
      message,
    }));

const shown = (uri: vscode.Uri, ...codes: string[]) =>
  waitFor(
    `${codes.join(', ') || 'no problem'} in ${uri.path}`,
    () => JSON.stringify(problems(uri).map(({ code }) => code)) === JSON.stringify(codes),
    { seen: () => problems(uri) },
  );

suite('a definition of an agent', () => {
  suiteSetup(activeExtension);

  test('has its problems at their lines before anybody opens it', async () => {
    const uri = await write(
      '.pi/agents/closed.md',
      '---',
      'name: closed',
      'description: b',
      'async: perhaps',
      '---',
      '',
    );
    await shown(uri, 'field_invalid');
    const [problem] = problems(uri);
    assert.deepEqual([problem?.line, problem?.column, problem?.severity], [4, 8, vscode.DiagnosticSeverity.Error]);
    assert.equal(problem?.message, 'async is perhaps. Write true or false.');
    assert.ok(problem.target);
    const row = Number(/^L(\d+)$/.exec(problem.target.fragment)?.[1]);
    const page = await vscode.workspace.openTextDocument(problem.target.with({ fragment: '' }));
    assert.match(page.lineAt(row - 1).text, /^\| `field_invalid`/);
    await write('.pi/agents/closed.md', '---', 'name: closed', 'description: b', '---', '');
    await shown(uri);
  });

  test('is checked as it is typed, saved or not', async () => {
    const uri = await write('.agents/typed.md', '---', 'name: typed', 'description: b', 'fast: true', '---', '');
    await shown(uri, 'field_unsupported');
    const document = await vscode.workspace.openTextDocument(uri);
    const change = new vscode.WorkspaceEdit();
    change.replace(uri, document.lineAt(3).range, 'thinking: hot');
    assert.ok(await vscode.workspace.applyEdit(change));
    await shown(uri, 'field_invalid');
    const mend = new vscode.WorkspaceEdit();
    mend.replace(uri, document.lineAt(3).range, 'thinking: low');
    assert.ok(await vscode.workspace.applyEdit(mend));
    await shown(uri);
    assert.ok(await document.save());
    await shown(uri);
  });

  test('takes its problems with it', async () => {
    const uri = await write('.pi/agents/gone.md', '---', 'name: gone', '---', '');
    await shown(uri, 'field_missing');
    await vscode.workspace.fs.delete(uri);
    await shown(uri);
  });

  test('is known to scripts from then on', async () => {
    const script = await write(
      'newcomer.workflow.js',
      "return (await runs.run('a', { agent: 'newcomer', task: 't' })).output;",
    );
    await vscode.workspace.openTextDocument(script);
    await shown(script, 'agent_not_found');
    await write('.pi/agents/newcomer.md', '---', 'name: newcomer', 'description: b', '---', '');
    await shown(script);
  });

  test('is not what other Markdown is', async () => {
    const uri = await write('docs/notes.md', '---', 'name: notes', '---', '');
    await vscode.workspace.openTextDocument(uri);
    const other = await write('.pi/agents/other.md', '# Notes');
    await shown(other, 'header_missing');
    assert.deepEqual(problems(uri), []);
    await vscode.workspace.fs.delete(other);
  });

  // The editor sees the folder come and go, not what is in it.
  for (const [folder, file] of [
    ['.agents/team', '.agents/team/moved.md'],
    ['.pi/agents', '.pi/agents/moved.md'],
    ['.pi', '.pi/agents/moved.md'],
  ] as const) {
    test(`comes and goes with its folder ${folder}`, async () => {
      const uri = await write(file, '---', 'name: moved', '---', '');
      await shown(uri, 'field_missing');
      const away = place(`away-${basename(folder)}`).fsPath;
      await rename(place(folder).fsPath, away);
      await shown(uri);
      await rename(away, place(folder).fsPath);
      await shown(uri, 'field_missing');
      await vscode.workspace.fs.delete(uri);
      await shown(uri);
    });
  }
});

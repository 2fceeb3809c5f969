import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';

suite('extension host', () => {
  test('has the extension under development and a copy of the fixture as its workspace', () => {
    assert.ok(vscode.extensions.getExtension('pi-lanes.pi-lanes'));
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    assert.match(readFileSync(join(folder.uri.fsPath, 'README.md'), 'utf8'), /^# Fixture/);
  });

  test('gets the environment of the process that started the tests', () => {
    assert.equal(process.env['VSCODE_TEST_OPTIONS'] !== undefined, true);
  });
});

/** What stands above the first line of a script. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as vscode from 'vscode';
import type { WorkflowChecks } from '../../../src/extension/editor/workflow-checks.ts';
import { WorkflowLenses } from '../../../src/extension/editor/workflow-lenses.ts';
import { Workplaces } from '../../../src/extension/launch/workplaces.ts';
import { EventEmitter, Memento, workspace } from './vscode-stand-in.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));
vi.mock('../../../src/extension/launch/choose-folder.ts', () => ({
  folderOf: () => ({ uri: { toString: () => 'file:///work' } }),
}));

const checks = { findings: () => [], onDidCheck: () => ({ dispose: () => undefined }) } as unknown as WorkflowChecks;

let workplaces: Workplaces;

function titles(name: string): (string | undefined)[] {
  const document = { languageId: 'javascript', uri: { scheme: 'file', fsPath: `/work/${name}` } };
  const lenses = new WorkflowLenses(checks, workplaces).provideCodeLenses(document as vscode.TextDocument);
  return lenses.map(({ command }) => command?.title);
}

beforeEach(() => {
  workplaces = new Workplaces(new Memento() as never);
  workspace.isTrusted = true;
  workspace.settings.clear();
});

describe('above a script', () => {
  it('stand running and validating', () => {
    expect(titles('a.workflow.js')).toEqual([
      '$(play) Run workflow',
      '$(folder) Agents work in the folder',
      'Validate (no problems)',
    ]);
    expect(titles('a.js')).toEqual([]);
  });

  it('stands where agents work, told anew when another place is chosen', async () => {
    const lenses = new WorkflowLenses(checks, workplaces);
    let told = 0;
    lenses.onDidChangeCodeLenses(() => told++);
    await workplaces.save('file:///work', 'workflow', { kind: 'worktree' });
    expect(told).toBe(1);
    expect(titles('a.workflow.js')).toContain('$(git-branch) Agents work in new worktrees');
  });

  it('stands nothing that starts something in a workspace that is not trusted', () => {
    workspace.isTrusted = false;
    expect(titles('a.workflow.js')).toEqual(['Validate (no problems)']);
  });

  it('stands nothing when a person does not want it', () => {
    workspace.settings.set('piLanes.workflows.codeLens', false);
    expect(titles('a.workflow.js')).toEqual([]);
  });
});

describe('what has changed', () => {
  it('is told when a lens says something else, and not with each check', () => {
    const checked = new EventEmitter<vscode.Uri>();
    let findings: { severity: string }[] | undefined;
    const lenses = new WorkflowLenses(
      {
        findings: () => findings,
        onDidCheck: checked.event,
      } as unknown as WorkflowChecks,
      workplaces,
    );
    const uri = { scheme: 'file', fsPath: '/work/a.workflow.js' } as vscode.Uri;
    const document = { languageId: 'javascript', uri } as vscode.TextDocument;
    let told = 0;
    lenses.onDidChangeCodeLenses(() => {
      told += 1;
      lenses.provideCodeLenses(document);
    });
    workspace.textDocuments.push(document as never);
    lenses.provideCodeLenses(document);
    findings = [];
    checked.fire(uri);
    checked.fire(uri);
    expect(told).toBe(1);
    findings = [{ severity: 'error' }];
    checked.fire(uri);
    expect(told).toBe(2);
  });
});

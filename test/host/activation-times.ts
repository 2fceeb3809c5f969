import * as vscode from 'vscode';
import { waitFor } from '../support/wait-for.ts';

/** Milliseconds, as the editor itself took them. */
export interface ActivationTimes {
  /** Reading and running the bundle. */
  load: number;
  /** Until `activate()` returned. */
  activate: number;
  /** Until what it returned was settled. */
  finish: number;
}

/** What the editor's report "Startup Performance" says about the activation of one extension. */
export async function activationTimes(extensionId: string): Promise<ActivationTimes> {
  await vscode.commands.executeCommand('perfview.show');
  const times = await waitFor('the activation in the startup report', () =>
    parseReport(vscode.window.activeTextEditor?.document.getText() ?? '', extensionId),
  );
  await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  return times;
}

/** Reads the Markdown table that follows the heading "Extension Activation Stats". */
function parseReport(report: string, extensionId: string): ActivationTimes | undefined {
  const [, stats = ''] = report.split('Extension Activation Stats');
  const rows = stats.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const heading = rows.find((row) => row.includes('Load Code'));
  const row = rows.find((cells) => cells.includes(extensionId));
  if (!heading || !row) return undefined;
  const cell = (name: string) => Number.parseInt(row[heading.indexOf(name)] ?? '', 10);
  const times = { load: cell('Load Code'), activate: cell('Call Activate'), finish: cell('Finish Activate') };
  return Object.values(times).includes(Number.NaN) ? undefined : times;
}

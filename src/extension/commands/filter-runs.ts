/** Filter Runs…: words and states in one box. */
import * as vscode from 'vscode';
import type { RunState } from '../../protocol/index.ts';
import { NO_FILTER } from '../runs/run-filter.ts';
import type { Services } from '../services.ts';
import { stateWord } from '../trees/runs/run-words.ts';
import { stateIcon } from '../trees/runs/state-icon.ts';

const STATES: readonly RunState[] = [
  'running',
  'waiting',
  'queued',
  'lost',
  'unresponsive',
  'failed',
  'complete',
  'partial',
  'paused',
  'stopped',
  'rejected',
  'unknown',
];

export async function filterRuns({ filter }: Services): Promise<void> {
  const box = vscode.window.createQuickPick<vscode.QuickPickItem & { state: RunState }>();
  try {
    box.title = vscode.l10n.t('Filter Runs');
    box.placeholder = vscode.l10n.t('Words to look for; tick states to see only those');
    box.canSelectMany = true;
    // What is typed is looked for in the runs, not among the states.
    box.items = STATES.map((state) => ({
      label: stateWord(state),
      // In a list, one that turns stands askew.
      iconPath: new vscode.ThemeIcon(stateIcon(state).id.replace('~spin', ''), stateIcon(state).color),
      alwaysShow: true,
      state,
    }));
    box.value = filter.value.text;
    box.selectedItems = box.items.filter(({ state }) => filter.value.states.includes(state));
    const accepted = await new Promise<boolean>((resolve) => {
      box.onDidAccept(() => resolve(true));
      box.onDidHide(() => resolve(false));
      box.show();
    });
    if (!accepted) return;
    await filter.set({ text: box.value.trim(), states: box.selectedItems.map(({ state }) => state) });
  } finally {
    box.dispose();
  }
}

export async function clearFilter({ filter }: Services): Promise<void> {
  await filter.set(NO_FILTER);
}

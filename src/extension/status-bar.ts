import * as vscode from 'vscode';
import { RUNS_VIEW } from './command-ids.ts';
import type { RunsModel } from './runs/runs-model.ts';
import type { SeenRuns } from './runs/seen-runs.ts';

/** One item: how many agents run now, and how many runs need a person. Click opens the Runs view. */
export function createStatusBarItem(model: RunsModel, seen: SeenRuns): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('piLanes.status', vscode.StatusBarAlignment.Left, 0);
  item.name = vscode.l10n.t('Pi Lanes');
  item.command = `${RUNS_VIEW}.focus`;
  const update = () => {
    const running = model.active().filter(({ state }) => state === 'queued' || state === 'running').length;
    const needed = model.all().filter(({ snapshot }) => seen.needsPerson(snapshot)).length;
    const icon = running > 0 ? '$(sync~spin)' : '$(layers)';
    const name = running > 0 ? vscode.l10n.t('{0} running', running) : vscode.l10n.t('Pi Lanes');
    item.text = `${icon} ${name}${needed > 0 ? ` $(bell-dot) ${needed}` : ''}`;
    const words = [vscode.l10n.t('Pi Lanes: {0} running', running)];
    if (needed > 0)
      words.push(needed === 1 ? vscode.l10n.t('1 run needs you') : vscode.l10n.t('{0} runs need you', needed));
    item.tooltip = words.join(', ');
    item.accessibilityInformation = { label: words.join(', ') };
  };
  update();
  item.show();
  return vscode.Disposable.from(item, model.onDidChange(update), seen.onDidChange(update));
}

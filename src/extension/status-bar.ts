import * as vscode from 'vscode';
import { RUNS_VIEW } from './command-ids.ts';
import type { RunsModel } from './runs/runs-model.ts';

/** One item: how many agents run now. Click opens the Runs view. */
export function createStatusBarItem(model: RunsModel): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('piLanes.status', vscode.StatusBarAlignment.Left, 0);
  item.name = vscode.l10n.t('Pi Lanes');
  item.command = `${RUNS_VIEW}.focus`;
  const update = () => {
    const active = model.active();
    const running = active.filter((snapshot) => snapshot.state !== 'lost' && snapshot.state !== 'unknown').length;
    const lost = active.length - running;
    const icon = running > 0 ? '$(sync~spin)' : '$(layers)';
    item.text = `${icon} ${running > 0 ? vscode.l10n.t('{0} running', running) : vscode.l10n.t('Pi Lanes')}${lost > 0 ? ` $(warning) ${lost}` : ''}`;
    const words = [vscode.l10n.t('Pi Lanes: {0} running', running)];
    if (lost > 0) words.push(vscode.l10n.t('{0} lost', lost));
    item.tooltip = words.join(', ');
    item.accessibilityInformation = { label: words.join(', ') };
  };
  update();
  item.show();
  return vscode.Disposable.from(item, model.onDidChange(update));
}

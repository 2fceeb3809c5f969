/** The icon of each state, the same for runs and for everything they consist of. */
import * as vscode from 'vscode';
import type { HostStepView, RunState } from '../../../protocol/index.ts';
import type { Unstarted } from '../../runs/workflow-rows.ts';

// Not the colours of lists and tests: high-contrast themes have none for some of them, and the green is too light on white.
const SUCCESS = 'charts.green';
export const ERROR = 'problemsErrorIcon.foreground';
export const WARNING = 'problemsWarningIcon.foreground';

interface Icon {
  icon: string;
  color?: string;
}

const ICONS: Record<RunState | Unstarted, Icon> = {
  queued: { icon: 'clock' },
  running: { icon: 'sync~spin', color: 'charts.blue' },
  waiting: { icon: 'question', color: 'charts.yellow' },
  paused: { icon: 'debug-pause', color: 'charts.yellow' },
  complete: { icon: 'pass', color: SUCCESS },
  partial: { icon: 'warning', color: WARNING },
  failed: { icon: 'error', color: ERROR },
  stopped: { icon: 'circle-slash' },
  rejected: { icon: 'circle-slash' },
  lost: { icon: 'debug-disconnect', color: WARNING },
  unresponsive: { icon: 'watch', color: WARNING },
  unknown: { icon: 'question' },
  planned: { icon: 'circle-large-outline' },
  skipped: { icon: 'dash' },
  omitted: { icon: 'circle-large-outline' },
};

/** As which state of a run a command is drawn. */
const HOSTS: Record<HostStepView['state'], RunState> = {
  asking: 'waiting',
  running: 'running',
  passed: 'complete',
  failed: 'failed',
  'timed-out': 'failed',
  stopped: 'stopped',
  denied: 'rejected',
  unknown: 'unknown',
};

export function stateIcon(state: RunState | Unstarted): vscode.ThemeIcon {
  const { icon, color } = ICONS[state];
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

export function hostIcon(state: HostStepView['state']): vscode.ThemeIcon {
  return stateIcon(HOSTS[state]);
}

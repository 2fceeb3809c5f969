import * as vscode from 'vscode';
import type { RunState } from '../../../protocol/index.ts';

const ICONS: Record<RunState, string> = {
  queued: 'running',
  running: 'running',
  waiting: 'waiting',
  paused: 'ended',
  complete: 'complete',
  partial: 'waiting',
  failed: 'failed',
  stopped: 'ended',
  rejected: 'failed',
  lost: 'failed',
  unresponsive: 'failed',
  unknown: 'ended',
};

/** The icon of a panel's tab; null: a session that belongs to no run. */
export function stateIcon(extensionUri: vscode.Uri, state: RunState | null): vscode.Uri {
  return vscode.Uri.joinPath(extensionUri, 'media', 'transcript', `${state === null ? 'ended' : ICONS[state]}.svg`);
}

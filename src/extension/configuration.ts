import * as vscode from 'vscode';
import type { Settings } from '../core/settings/index.ts';

/** Settings of this window that win over the shared `config.json`. Untrusted workspaces cannot set them (package.json). */
export function windowSettings(): Partial<Settings> {
  const configuration = vscode.workspace.getConfiguration('piLanes');
  const path = (key: string) => configuration.get<string>(key)?.trim() || undefined;
  const piPath = path('pi.path');
  const nodePath = path('node.path');
  return { ...(piPath === undefined ? {} : { piPath }), ...(nodePath === undefined ? {} : { nodePath }) };
}

/** What happens with a run whose runner is gone. */
export function recoverSetting(): 'ask' | 'always' | 'never' {
  const value = vscode.workspace.getConfiguration('piLanes').get<string>('recover');
  return value === 'always' || value === 'never' ? value : 'ask';
}

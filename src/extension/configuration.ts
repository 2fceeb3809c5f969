/** Settings, read when they are used: a change counts from then on, without a reload of the window. */
import * as vscode from 'vscode';
import type { LaunchRequest } from '../client/index.ts';
import { bundledAgents } from '../core/agents/index.ts';
import type { Settings } from '../core/settings/index.ts';

/** The value as a text without spaces around it; `undefined` when there is nothing in it. */
function text(key: string, folder?: vscode.Uri): string | undefined {
  const value = vscode.workspace.getConfiguration('piLanes', folder).get<unknown>(key);
  return (typeof value === 'string' && value.trim()) || undefined;
}

/** Settings of this window that win over the shared `config.json`. Untrusted workspaces cannot set them (package.json). */
export function windowSettings(): Partial<Settings> {
  const piPath = text('pi.path');
  const nodePath = text('node.path');
  return { ...(piPath === undefined ? {} : { piPath }), ...(nodePath === undefined ? {} : { nodePath }) };
}

/** What happens with a run whose runner is gone. */
export function recoverSetting(): 'ask' | 'always' | 'never' {
  const value = text('recover');
  return value === 'always' || value === 'never' ? value : 'ask';
}

/** The agent that is offered first; `undefined` when none is set, or none of that name exists. */
export function defaultAgent(folder: vscode.Uri): string | undefined {
  const wanted = text('defaultAgent', folder);
  return bundledAgents().find(({ name }) => name === wanted)?.name;
}

/** Folders of a workspace folder whose scripts are workflows, relative to it. */
export function workflowFolders(folder: vscode.Uri): string[] {
  const value = vscode.workspace.getConfiguration('piLanes', folder).get<unknown>('workflows.folders');
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one.trim() !== '') : [];
}

/** What a launch in a folder uses when nobody says otherwise. */
export function launchDefaults(folder: vscode.Uri): Pick<LaunchRequest, 'defaultModel' | 'timeoutMs'> {
  const model = text('defaultModel', folder);
  const minutes = vscode.workspace.getConfiguration('piLanes', folder).get<unknown>('timeoutMinutes');
  const timeoutMs = typeof minutes === 'number' ? (minutes === 0 ? null : Math.round(minutes * 60_000)) : undefined;
  return {
    ...(model === undefined ? {} : { defaultModel: model }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

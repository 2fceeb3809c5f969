/** Settings, read when they are used: a change counts from then on, without a reload of the window. */
import * as vscode from 'vscode';
import type { LaunchRequest, SettingOverrides } from '../client/index.ts';
import { type ConfiguredWorktrees, parseWorktrees, parseWriters, timeLimit } from '../core/settings/index.ts';
import type { HostPolicy, Writers } from '../protocol/index.ts';

/** The value as a text without spaces around it; `undefined` when there is nothing in it. */
function text(key: string, folder?: vscode.Uri): string | undefined {
  const value = vscode.workspace.getConfiguration('piLanes', folder).get<unknown>(key);
  return (typeof value === 'string' && value.trim()) || undefined;
}

/** Only what a person has set: the defaults are those of the shared file. Blank: it says nothing. */
function given(key: string): unknown {
  const found = vscode.workspace.getConfiguration('piLanes').inspect<unknown>(key);
  const value = found?.workspaceValue ?? found?.globalValue;
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

/** Settings of this window that win over the shared `config.json`. Untrusted workspaces cannot set them (package.json). */
export function windowSettings(): SettingOverrides {
  const piPath = text('pi.path');
  const nodePath = text('node.path');
  const systemdScope = vscode.workspace.getConfiguration('piLanes').get<unknown>('runner.systemdScope');
  // Only what a person has set: the default is that of the shared file. A folder has no say in how long runs of all are kept.
  const retentionDays = vscode.workspace.getConfiguration('piLanes').inspect<unknown>('retention.days')?.globalValue;
  return {
    ...(piPath === undefined ? {} : { piPath }),
    ...(nodePath === undefined ? {} : { nodePath }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
    // Off is the default, so it does not say no to the shared file.
    ...(systemdScope === true ? { systemdScope } : {}),
    // Read only by who needs them: a wrong value must not stop everything else.
    get worktrees() {
      return worktreeSettings();
    },
    get writers() {
      return writersSetting();
    },
  };
}

/** How worktrees are made. Throws `config_invalid` and `launch_invalid`. */
function worktreeSettings(): ConfiguredWorktrees {
  const seconds = given('worktrees.setupHookTimeoutSeconds');
  const rule = { name: 'piLanes.worktrees.setupHookTimeoutSeconds', unit: 'seconds', zeroIsNone: false } as const;
  const values = {
    folder: given('worktrees.folder'),
    copies: given('worktrees.copies'),
    links: given('worktrees.links'),
    setupHook: given('worktrees.setupHook'),
    setupHookTimeoutMs: seconds === undefined ? undefined : timeLimit(seconds, rule),
  };
  const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return parseWorktrees(set, 'VS Code settings (Pi Lanes › Worktrees)');
}

/** What an agent does in a checkout that another one changes. Throws `config_invalid`. */
function writersSetting(): Writers | undefined {
  const value = given('writers');
  return value === undefined ? undefined : parseWriters(value, 'piLanes.writers');
}

/** What happens with a run whose runner is gone. */
export function recoverSetting(): 'ask' | 'always' | 'never' {
  const value = text('recover');
  return value === 'always' || value === 'never' ? value : 'ask';
}

/** The agent that is offered first, if there is one of that name. */
export function defaultAgent(folder: vscode.Uri): string | undefined {
  return text('defaultAgent', folder);
}

/** The model of agents that name none. */
export function defaultModel(folder: vscode.Uri): string | undefined {
  return text('defaultModel', folder);
}

/** Folders of a workspace folder whose scripts are workflows, relative to it. */
export function workflowFolders(folder: vscode.Uri): string[] {
  const value = vscode.workspace.getConfiguration('piLanes', folder).get<unknown>('workflows.folders');
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one.trim() !== '') : [];
}

/** Whether what can be done with a script is shown above its first line. */
export function showsScriptLenses(script: vscode.Uri): boolean {
  return vscode.workspace.getConfiguration('piLanes', script).get<unknown>('workflows.codeLens') !== false;
}

const CONFIRM_ABOVE = 4;

/** How many known agents a workflow may start without a question; 0: it is always asked. */
export function confirmWorkflowAbove(script: vscode.Uri): number {
  const value = vscode.workspace.getConfiguration('piLanes', script).get<unknown>('confirmWorkflowAbove');
  return typeof value === 'number' && value >= 0 ? value : CONFIRM_ABOVE;
}

/** Whether commands of workflows run on this machine. A folder has no say in it. */
export function hostCommands(): HostPolicy['mode'] {
  const value = vscode.workspace.getConfiguration('piLanes').inspect<unknown>('hostCommands')?.globalValue;
  return value === 'allow' || value === 'deny' ? value : 'ask';
}

/** What a launch in a folder uses when nobody says otherwise. Throws `launch_invalid` for a limit that cannot be one. */
export function launchDefaults(folder: vscode.Uri): Pick<LaunchRequest, 'defaultModel' | 'usualTimeoutMs'> {
  const model = defaultModel(folder);
  const minutes = vscode.workspace.getConfiguration('piLanes', folder).get<unknown>('timeoutMinutes');
  const rule = { name: 'piLanes.timeoutMinutes', unit: 'minutes', zeroIsNone: true } as const;
  const usualTimeoutMs = minutes === undefined ? undefined : timeLimit(minutes, rule);
  return {
    ...(model === undefined ? {} : { defaultModel: model }),
    ...(usualTimeoutMs === undefined ? {} : { usualTimeoutMs }),
  };
}

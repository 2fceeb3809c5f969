/** Errors and notices as people see them. */
import * as vscode from 'vscode';
import { type ErrorCode, LanesError, toErrorValue } from '../protocol/index.ts';
import { BUILT_IN, COMMANDS } from './command-ids.ts';
import { errorWords } from './error-words.ts';

/**
 * Text of others in a notification: the editor would make links of `[text](address)`, and commands among them, so the two
 * halves are kept apart.
 */
export function plain(text: string): string {
  return text.replaceAll('](', ']\u200b(');
}

export interface NextStep {
  title: string;
  run: () => Thenable<unknown>;
}

/** Which next steps an error offers as buttons. */
export function nextSteps(code: ErrorCode): NextStep[] {
  if (code === 'pi_not_found' || code === 'pi_too_old') return [installStep(), settingStep('piLanes.pi.path')];
  // What is configured goes before an installed copy: installing one would help nobody.
  if (code === 'pi_path_invalid' || code === 'npm_not_found') return [settingStep('piLanes.pi.path')];
  if (code === 'node_not_found') return [settingStep('piLanes.node.path')];
  if (code === 'model_none') return [loginStep()];
  if (code === 'untrusted_workspace') {
    return [
      {
        title: vscode.l10n.t('Manage Workspace Trust'),
        run: () => vscode.commands.executeCommand(BUILT_IN.manageTrust),
      },
    ];
  }
  return [];
}

function installStep(): NextStep {
  return { title: vscode.l10n.t('Install Pi…'), run: () => vscode.commands.executeCommand(COMMANDS.installPi) };
}

export function loginStep(): NextStep {
  return { title: vscode.l10n.t('Open Pi'), run: () => vscode.commands.executeCommand(COMMANDS.openPi) };
}

export function settingStep(key: string): NextStep {
  return {
    title: vscode.l10n.t('Open Setting'),
    // In a remote window the setting belongs to the remote machine.
    run: () =>
      vscode.commands.executeCommand(
        vscode.env.remoteName === undefined ? BUILT_IN.openSettings : BUILT_IN.openRemoteSettings,
        key,
      ),
  };
}

/** Shows a message with steps as buttons and does what is chosen. */
export async function offerSteps(
  show: (message: string, ...titles: string[]) => Thenable<string | undefined>,
  message: string,
  steps: readonly NextStep[],
): Promise<void> {
  const title = await show(plain(message), ...steps.map((step) => step.title));
  await steps.find((step) => step.title === title)?.run();
}

/** Shows an error with its hint and next steps, and logs it whole. Does not wait for an answer. */
export function showError(error: unknown, log: vscode.LogOutputChannel): void {
  const value = toErrorValue(error);
  log.error(`${value.code}: ${value.message}${value.hint ? ` (${value.hint})` : ''}`);
  if (!(error instanceof LanesError) && error instanceof Error && error.stack) log.error(error.stack);
  const { message, hint } = errorWords(value);
  const first = message.split('\n')[0] ?? message;
  const more = message === first ? [] : [{ title: vscode.l10n.t('Show Output'), run: async () => log.show() }];
  const steps = [...nextSteps(value.code), ...more];
  void offerSteps(vscode.window.showErrorMessage, hint ? `${first} ${hint}` : first, steps);
}

/** Errors and notices as people see them. */
import * as vscode from 'vscode';
import { LanesError, toErrorValue } from '../protocol/index.ts';
import { BUILT_IN } from './command-ids.ts';

/**
 * Text of others in a notification: the editor would make links of `[text](address)`, and commands among them, so the two
 * halves are kept apart.
 */
export function plain(text: string): string {
  return text.replaceAll('](', ']\u200b(');
}

/** Which next step an error offers as a button. */
function nextSteps(code: string): { title: string; run: () => Thenable<unknown> }[] {
  const settings = (key: string) => ({
    title: vscode.l10n.t('Open Setting'),
    // In a remote window the setting belongs to the remote machine.
    run: () =>
      vscode.commands.executeCommand(
        vscode.env.remoteName === undefined ? BUILT_IN.openSettings : BUILT_IN.openRemoteSettings,
        key,
      ),
  });
  if (code === 'pi_not_found' || code === 'pi_path_invalid' || code === 'pi_too_old')
    return [settings('piLanes.pi.path')];
  if (code === 'node_not_found') return [settings('piLanes.node.path')];
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

/** Shows an error with its hint and next steps, and logs it whole. Does not wait for an answer. */
export function showError(error: unknown, log: vscode.LogOutputChannel): void {
  const value = toErrorValue(error);
  log.error(`${value.code}: ${value.message}${value.hint ? ` (${value.hint})` : ''}`);
  if (!(error instanceof LanesError) && error instanceof Error && error.stack) log.error(error.stack);
  const first = value.message.split('\n')[0] ?? value.message;
  const more = value.message === first ? [] : [{ title: vscode.l10n.t('Show Output'), run: async () => log.show() }];
  const steps = [...nextSteps(value.code), ...more];
  void vscode.window
    .showErrorMessage(plain(value.hint ? `${first} ${value.hint}` : first), ...steps.map((step) => step.title))
    .then((title) => steps.find((step) => step.title === title)?.run());
}

import * as vscode from 'vscode';
import { examine } from '../../client/index.ts';
import { errorWords } from '../error-words.ts';
import { nextSteps, offerSteps } from '../messages.ts';
import type { Services } from '../services.ts';

/** Check Installation: what runs need on this machine, into the output channel, the outcome as a message. */
export async function runDoctor(services: Services): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
  const checks = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Checking…') },
    () => examine(services.toolbox, folder && { cwd: folder.uri.fsPath, projectTrusted: vscode.workspace.isTrusted }),
  );
  void services.readiness.look();
  for (const check of checks) {
    const text = `${check.name}: ${check.text}${check.hint ? ` → ${check.hint}` : ''}`;
    if (check.state === 'ok') services.log.info(text);
    else if (check.state === 'warning') services.log.warn(text);
    else services.log.error(text);
  }
  const bad = checks.find((check) => check.state === 'error');
  const show = { title: vscode.l10n.t('Show Output'), run: async () => services.log.show() };
  if (!bad) await offerSteps(vscode.window.showInformationMessage, vscode.l10n.t('Pi Lanes is ready.'), [show]);
  else {
    const steps = [...(bad.error ? nextSteps(bad.error.code) : []), show];
    const { message, hint } = bad.error ? errorWords(bad.error) : { message: bad.text, hint: bad.hint };
    await offerSteps(vscode.window.showErrorMessage, [message, hint].filter(Boolean).join(' '), steps);
  }
}

import * as vscode from 'vscode';
import { examine } from '../../client/index.ts';
import { plain } from '../messages.ts';
import type { Services } from '../services.ts';

/** Check Installation: what runs need on this machine, into the output channel, the outcome as a message. */
export async function runDoctor(services: Services): Promise<void> {
  const checks = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Checking…') },
    () => examine(services.toolbox),
  );
  void services.readiness.look();
  for (const check of checks) {
    const text = `${check.name}: ${check.text}${check.hint ? ` → ${check.hint}` : ''}`;
    if (check.state === 'ok') services.log.info(text);
    else if (check.state === 'warning') services.log.warn(text);
    else services.log.error(text);
  }
  const bad = checks.filter((check) => check.state === 'error');
  const show = vscode.l10n.t('Show Output');
  const answer =
    bad.length === 0
      ? await vscode.window.showInformationMessage(vscode.l10n.t('Pi Lanes is ready.'), show)
      : await vscode.window.showErrorMessage(plain([bad[0]?.text, bad[0]?.hint].filter(Boolean).join(' ')), show);
  if (answer === show) services.log.show();
}

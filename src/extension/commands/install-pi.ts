/** Install Pi…: with a question before anything is downloaded, with progress, and so that it can be called off. */
import * as vscode from 'vscode';
import { installOfferedPi, type PiInstallOffer, prepareInstall } from '../../client/index.ts';
import { type InstallStep, PI_MEGABYTES, PI_PACKAGE, type PiLocation } from '../../core/toolchain/index.ts';
import { COMMANDS } from '../command-ids.ts';
import { requireTrust } from '../launch/start-agent.ts';
import { type NextStep, offerSteps, settingStep } from '../messages.ts';
import type { Services } from '../services.ts';

export async function installPi(services: Services): Promise<void> {
  requireTrust();
  const offer = await withCancel(vscode.l10n.t('Looking for the newest Pi…'), (_, signal) =>
    prepareInstall(services.toolbox, signal),
  );
  if (!offer || !(offer.present || (await consents(offer)))) return;
  const pi =
    offer.present ??
    (await withCancel(vscode.l10n.t('Installing Pi {0}', offer.version), (report, signal) =>
      installOfferedPi(offer, (step) => report(stepText(step)), signal),
    ));
  if (!pi) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Called off. Nothing was installed.'));
    return;
  }
  services.log.info(`Pi ${pi.version} is installed: ${pi.file}`);
  await services.readiness.lookAgain();
  void tellInstalled(pi, offer);
}

async function consents({ version, registry, folder, usedInstead }: PiInstallOffer): Promise<boolean> {
  const install = vscode.l10n.t('Install');
  const detail = [
    vscode.l10n.t(
      '{0} and the packages it needs (about {1} MB) are downloaded from {2} by npm, with your npm configuration, into the folder {3}.',
      PI_PACKAGE,
      PI_MEGABYTES,
      registry,
      folder,
    ),
    vscode.l10n.t('Nothing else on this machine is changed.'),
    ...(usedInstead ? [vscode.l10n.t('It would not be used: {0} goes before it.', usedInstead.file)] : []),
  ];
  const title = vscode.l10n.t('Install Pi {0} for Pi Lanes?', version);
  return (
    (await vscode.window.showInformationMessage(title, { modal: true, detail: detail.join('\n\n') }, install)) ===
    install
  );
}

function stepText(step: InstallStep): string {
  if (step === 'waiting') return vscode.l10n.t('Another window installs it just now; waiting…');
  if (step === 'downloading') return vscode.l10n.t('Downloading; this can take some minutes…');
  return vscode.l10n.t('Checking what was installed…');
}

function tellInstalled({ version }: PiLocation, { usedInstead }: PiInstallOffer): Promise<void> {
  if (usedInstead) {
    const text = vscode.l10n.t('Pi {0} is installed, but not used: {1} goes before it.', version, usedInstead.file);
    const steps = usedInstead.place === 'configured' ? [settingStep('piLanes.pi.path')] : [];
    return offerSteps(vscode.window.showWarningMessage, text, steps);
  }
  const launch: NextStep = {
    title: vscode.l10n.t('Launch Agent…'),
    run: () => vscode.commands.executeCommand(COMMANDS.launchAgent),
  };
  return offerSteps(vscode.window.showInformationMessage, vscode.l10n.t('Pi {0} is installed.', version), [launch]);
}

/** Works under a notification that has a Cancel button; `undefined` when that was pressed. */
async function withCancel<T>(
  title: string,
  work: (report: (message: string) => void, signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
    const calledOff = new AbortController();
    const listening = token.onCancellationRequested(() => calledOff.abort());
    try {
      return await work((message) => progress.report({ message }), calledOff.signal);
    } catch (error) {
      if (calledOff.signal.aborted) return undefined;
      throw error;
    } finally {
      listening.dispose();
    }
  });
}

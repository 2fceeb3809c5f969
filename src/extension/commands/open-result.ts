import * as vscode from 'vscode';
import { isTerminal, LanesError, type RunState } from '../../protocol/index.ts';
import type { Services } from '../services.ts';
import { runTitle } from '../trees/runs/run-words.ts';
import { chooseRun } from './choose-run.ts';

/** What a run that is over, or was cut off, came to. */
export async function openResult(services: Services, node: unknown): Promise<void> {
  const none = vscode.l10n.t('No run here has ended yet.');
  const snapshot = await chooseRun(services, node, hasEnded, none);
  if (!snapshot) return;
  if (!hasEnded(snapshot.state)) {
    const message = vscode.l10n.t('"{0}" has not ended yet: it has no result.', runTitle(snapshot));
    throw new LanesError({ code: 'launch_invalid', message });
  }
  await services.results.show(snapshot);
  services.seen.markSeen([snapshot]);
}

function hasEnded(state: RunState): boolean {
  return isTerminal(state) || state === 'lost' || state === 'unknown';
}

/** Mark as Seen: a failure that was looked at, or need not be, no longer asks for a person. */
import * as vscode from 'vscode';
import type { RunSnapshot } from '../../client/index.ts';
import type { RunState } from '../../protocol/index.ts';
import type { Services } from '../services.ts';
import { chooseRun } from './choose-run.ts';

export async function markRunSeen(services: Services, node: unknown): Promise<void> {
  const { seen } = services;
  const none = vscode.l10n.t('No failed run here is unseen.');
  const unseen = (state: RunState, run: RunSnapshot) => state === 'failed' && seen.needsPerson(run);
  const snapshot = await chooseRun(services, node, unseen, none);
  if (snapshot) seen.markSeen([snapshot]);
}

export async function markAllSeen({ runs, seen }: Services): Promise<void> {
  await runs.ready();
  seen.markSeen(runs.recent());
}

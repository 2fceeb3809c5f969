import { basename } from 'node:path';
import * as vscode from 'vscode';
import { type RunSnapshot, readSnapshot } from '../../client/index.ts';
import { LanesError, type RunState } from '../../protocol/index.ts';
import { isRunFolder } from '../panels/transcript/subject.ts';
import { plainLabel } from '../plain-label.ts';
import type { Services } from '../services.ts';
import { runTitle, stateText } from '../trees/runs/run-words.ts';

/**
 * The run a command is meant for: the row it came from or the selected one, when its state fits; else the person picks among
 * those that fit. `undefined`: the person picked none.
 */
export async function chooseRun(
  services: Services,
  node: unknown,
  fits: (state: RunState, snapshot: RunSnapshot) => boolean,
  noneText: string,
): Promise<RunSnapshot | undefined> {
  await services.runs.ready();
  const runId = services.tree.runIdOf(node);
  const given = runId === undefined ? undefined : services.runs.get(runId);
  if (given && (node !== undefined || fits(given.state, given))) return given;
  // A panel can show a run that is not among those of this window.
  const { directory } = isElsewhere(node) ? node : {};
  if (directory !== undefined && isRunFolder(services.toolbox.root.projects, directory)) {
    const snapshot = await readSnapshot(basename(directory), directory);
    if (snapshot.view) return snapshot;
  }
  // A row that is gone must not lead to another run.
  if (node !== undefined && runId !== undefined)
    throw new LanesError({ code: 'run_not_found', message: vscode.l10n.t('This run is not there any more.') });
  const runs = [...services.runs.active(), ...services.runs.recent()].filter((snapshot) =>
    fits(snapshot.state, snapshot),
  );
  if (runs.length === 0) throw new LanesError({ code: 'run_not_found', message: noneText });
  const picked = await vscode.window.showQuickPick(
    runs.map((snapshot) => ({
      label: plainLabel(runTitle(snapshot)),
      description: [snapshot.view?.agent, stateText(snapshot)].filter(Boolean).join(' · '),
      snapshot,
    })),
    { placeHolder: vscode.l10n.t('Which run?') },
  );
  return picked?.snapshot;
}

function isElsewhere(node: unknown): node is { directory: string } {
  return typeof node === 'object' && node !== null && 'directory' in node && typeof node.directory === 'string';
}

/** Asks for higher limits before a workflow that has ended by them goes on. */
import * as vscode from 'vscode';
import type { NewBounds, ReachedLimit, ReachedLimits } from '../../client/index.ts';
import { proposedLimit, readLimit, usedWords, withLimit } from './limit-value.ts';

/** `undefined`: a box was closed, nothing is to happen. */
export async function askHigherLimits(
  name: string,
  { reached, usageBudget }: ReachedLimits,
): Promise<NewBounds | undefined> {
  let bounds: NewBounds = {};
  for (const limit of reached) {
    const typed = await vscode.window.showInputBox({
      title: vscode.l10n.t('Continue "{0}" with a higher limit', name),
      prompt: promptOf(limit),
      value: proposedLimit(limit),
      ignoreFocusOut: true,
      validateInput: (text) => (readLimit(text, limit) === undefined ? ruleOf(limit) : undefined),
    });
    const value = typed === undefined ? undefined : readLimit(typed, limit);
    if (value === undefined) return undefined;
    bounds = withLimit(bounds, limit, value, usageBudget);
  }
  return bounds;
}

function promptOf(limit: ReachedLimit): string {
  const used = usedWords(limit);
  switch (limit.kind) {
    case 'time':
      return vscode.l10n.t('Time limit of the whole run in minutes, 0 for none. It has used {0}.', used);
    case 'spawns':
      return vscode.l10n.t(
        'How many agents the whole run may start. It has started {0}, and wanted {1}.',
        used,
        limit.wanted,
      );
    case 'tokens':
      return vscode.l10n.t('How many tokens all agents of the run may use together. They have used {0}.', used);
    case 'costUsd':
      return vscode.l10n.t('How many US dollars all agents of the run may use together. They have used {0}.', used);
    default:
      return limit satisfies never;
  }
}

function ruleOf(limit: ReachedLimit): string {
  switch (limit.kind) {
    case 'time':
      return vscode.l10n.t('Write a number of minutes above {0}, or 0 for no limit.', usedWords(limit));
    case 'spawns':
      return vscode.l10n.t('Write a whole number, at least {0}.', limit.wanted);
    case 'tokens':
      return vscode.l10n.t('Write a whole number above {0}.', usedWords(limit));
    case 'costUsd':
      return vscode.l10n.t('Write a number above {0}.', usedWords(limit));
    default:
      return limit satisfies never;
  }
}

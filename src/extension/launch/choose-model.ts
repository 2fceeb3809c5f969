/** A model out of those that Pi can use now, and how hard it should think. */
import * as vscode from 'vscode';
import type { Toolbox } from '../../client/index.ts';
import { THINKING_LEVELS } from '../../core/models/index.ts';
import { formatTokens } from '../../protocol/index.ts';

export interface ModelChoice {
  /** Absent: the default. */
  model: string | undefined;
  thinking: string | undefined;
}

interface ModelItem extends vscode.QuickPickItem {
  model?: string;
  reasoning: boolean;
}

/**
 * `undefined`: nothing was chosen.
 *
 * @param named the default of agent or settings; absent: Pi's own
 */
export async function chooseModel(toolbox: Toolbox, named: string | undefined): Promise<ModelChoice | undefined> {
  const title = vscode.l10n.t('Model');
  const picked = await vscode.window.showQuickPick(modelItems(toolbox, named), {
    title,
    placeHolder: vscode.l10n.t('Which model?'),
    matchOnDescription: true,
    ignoreFocusOut: true,
  });
  if (!picked) return undefined;
  if (!picked.reasoning) return { model: picked.model, thinking: undefined };
  const usual = { label: vscode.l10n.t('Default level'), level: undefined };
  const levels = THINKING_LEVELS.map((level) => ({ label: level, level }));
  const thinking = await vscode.window.showQuickPick([usual, ...levels], {
    title: picked.label,
    placeHolder: vscode.l10n.t('How hard should it think?'),
    ignoreFocusOut: true,
  });
  return thinking && { model: picked.model, thinking: thinking.level };
}

async function modelItems(toolbox: Toolbox, named: string | undefined): Promise<ModelItem[]> {
  const { models } = await toolbox.tools();
  const usable = await models.usable();
  // Refused here already, with the next step, when there is none.
  await models.resolve(undefined);
  const usual = named ?? usable.defaultModel ?? '';
  const reasoning = usable.models.find(({ name }) => name === usual)?.reasoning ?? true;
  return [
    { label: vscode.l10n.t('Default'), description: usual, reasoning },
    ...usable.models.map(({ name, title, reasoning: thinks, contextWindow }) => ({
      label: title,
      description: name,
      detail: [
        thinks ? vscode.l10n.t('thinks: {0}', THINKING_LEVELS.join(', ')) : vscode.l10n.t('does not think'),
        ...(contextWindow === null ? [] : [vscode.l10n.t('{0} tokens of context', formatTokens(contextWindow))]),
      ].join(' · '),
      model: name,
      reasoning: thinks,
    })),
  ];
}

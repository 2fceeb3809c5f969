/** The plan of a launch as rows of the box that its task is typed into. */
import * as vscode from 'vscode';
import { visible } from '../../core/transcripts/index.ts';
import { errorWords } from '../error-words.ts';
import { plainLabel } from '../plain-label.ts';
import { contextWords, limitsWords, modelsWords, toolsWords } from './agent-plan-words.ts';
import type { Draft } from './draft.ts';
import type { AgentForecast } from './foresee-agent.ts';
import { modelWords } from './model-words.ts';
import { isAboutWorktree, refusalRow } from './refusal-words.ts';
import { type Workplace, workplaceWords } from './workplaces.ts';

export interface PlanItem extends vscode.QuickPickItem {
  choose: 'model' | 'workplace' | 'plan';
}

/** What will be refused or left out. */
export function troubleItems({ plan, problem, writer }: AgentForecast): PlanItem[] {
  const errors = [...(problem ? [{ error: problem, icon: 'error' }] : [])];
  const warnings = (plan?.planned.warnings ?? []).map((error) => ({ error, icon: 'warning' }));
  const items = [...errors, ...warnings].map(({ error, icon }): PlanItem => {
    if (isAboutWorktree(error))
      return { ...refusalRow(error), iconPath: new vscode.ThemeIcon(icon), choose: 'workplace' };
    const { message, hint } = errorWords(error);
    return {
      label: plainLabel(message.split('\n')[0] ?? message),
      ...(hint === undefined ? {} : { detail: plainLabel(hint) }),
      iconPath: new vscode.ThemeIcon(icon),
      choose: 'plan',
    };
  });
  return writer ? [writerItem(writer), ...items] : items;
}

function writerItem({ owner, writers }: NonNullable<AgentForecast['writer']>): PlanItem {
  return {
    label: vscode.l10n.t('Another agent changes files in this folder'),
    description: plainLabel(visible(owner)),
    detail:
      writers === 'refuse'
        ? vscode.l10n.t('This one will be refused: wait for the end of the other, or give it a worktree of its own.')
        : vscode.l10n.t('This one begins when the other has ended, or at once in a worktree of its own.'),
    iconPath: new vscode.ThemeIcon('warning'),
    choose: 'workplace',
  };
}

/**
 * What will run, and what of it can be changed here.
 *
 * @param forecast `undefined`: it is not known yet
 */
export function planItems(draft: Draft, workplace: Workplace, forecast: AgentForecast | undefined): PlanItem[] {
  const plan = forecast?.plan;
  const told = (icon: string, label: string, description: string): PlanItem => ({
    label,
    description: plainLabel(description),
    iconPath: new vscode.ThemeIcon(icon),
    choose: 'plan',
  });
  return [
    {
      label: vscode.l10n.t('Model…'),
      description: plainLabel(plan ? modelsWords(plan, forecast) : modelWords(draft)),
      iconPath: new vscode.ThemeIcon('chip'),
      choose: 'model',
    },
    {
      label: vscode.l10n.t('Folder or Worktree…'),
      description: plainLabel(workplaceWords(workplace)),
      iconPath: new vscode.ThemeIcon(workplace.kind === 'folder' ? 'folder' : 'git-branch'),
      choose: 'workplace',
    },
    ...(plan
      ? [
          told('tools', vscode.l10n.t('Tools'), toolsWords(plan)),
          told('comment-discussion', vscode.l10n.t('Context'), contextWords(plan)),
          told('watch', vscode.l10n.t('Limits'), limitsWords(plan)),
        ]
      : []),
  ];
}

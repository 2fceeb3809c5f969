/** The plan of a workflow as a list, in which a person starts it or does not. */
import * as vscode from 'vscode';
import type { PreviewedChild, WorkflowPreview } from '../../client/index.ts';
import type { ErrorValue, TextRange } from '../../protocol/index.ts';
import { refusalRow } from '../launch/refusal-words.ts';
import { agentsPlaceWords, type Workplace } from '../launch/workplaces.ts';
import { plain } from '../messages.ts';
import { agentsWords, commandLine, commandsWords, launchWords, priceWords, summaryOf } from './plan-words.ts';

interface PlanItem extends vscode.QuickPickItem {
  action?: 'start' | 'document' | 'workplace';
  /** Where it stands in the script. */
  range?: TextRange;
}

export interface PlanPick {
  /** Name of the workflow. */
  name: string;
  preview: WorkflowPreview;
  /** Where agents work for which the script names no place. */
  workplace: Workplace;
  /** Why they cannot work there: then it is not offered to start. */
  problem: ErrorValue | null;
  /** Shows the same to be read, and leaves the focus where it is. */
  showDocument: () => Thenable<unknown>;
  /** Shows a place of the script, and leaves the focus where it is. */
  showPlace: (range: TextRange) => Thenable<unknown>;
}

/** `workplace`: a person wants agents to work elsewhere; then there is another plan. */
export type PlanDecision = 'start' | 'workplace' | 'leave';

/**
 * Resolves to what a person wants. The list stays open while its rows are looked at. It covers the document: whoever closes it to
 * read that is offered the start again.
 */
export function confirmPlan(plan: PlanPick): Promise<PlanDecision> {
  const { name, preview, problem, showDocument, showPlace } = plan;
  const { promise, resolve } = Promise.withResolvers<PlanDecision>();
  const pick = vscode.window.createQuickPick<PlanItem>();
  pick.title = vscode.l10n.t('Run {0}?', name);
  pick.placeholder = vscode.l10n.t('Nothing has been started yet: {0}.', summaryOf(preview));
  pick.items = planItems(plan);
  pick.matchOnDescription = true;
  pick.ignoreFocusOut = true;
  let decision: PlanDecision = 'leave';
  let isShown = false;
  pick.onDidAccept(() => {
    const [item] = pick.selectedItems;
    if (item?.action === 'start' || item?.action === 'workplace') {
      decision = item.action;
      pick.hide();
    } else if (item?.action === 'document') {
      isShown = true;
      void showDocument();
    } else if (item?.range) void showPlace(item.range);
  });
  let isOver = false;
  pick.onDidHide(() => {
    // A list that Escape has closed tells it a second time when it is disposed.
    if (isOver) return;
    isOver = true;
    resolve(decision === 'leave' && isShown && !problem ? offerStart(name) : decision);
    pick.dispose();
  });
  pick.show();
  return promise;
}

async function offerStart(name: string): Promise<PlanDecision> {
  const start = vscode.l10n.t('Start');
  const message = vscode.l10n.t('"{0}" has not been started.', name);
  return (await vscode.window.showInformationMessage(plain(message), start)) === start ? 'start' : 'leave';
}

function planItems({ preview, workplace, problem }: PlanPick): PlanItem[] {
  const { children, more, models, hosts } = preview;
  const commands = commandsWords(preview);
  return [
    problem
      ? // A click leads to what can be done about it.
        { ...refusalRow(problem), iconPath: icon('error'), action: 'workplace' }
      : { label: vscode.l10n.t('Start'), iconPath: icon('play'), description: summaryOf(preview), action: 'start' },
    {
      label: vscode.l10n.t('Folder or Worktree…'),
      iconPath: icon(workplace.kind === 'folder' ? 'folder' : 'git-branch'),
      description: withoutIcons(agentsPlaceWords(workplace)),
      action: 'workplace',
    },
    { label: vscode.l10n.t('Show Plan as Document'), iconPath: icon('open-preview'), action: 'document' },
    ...(commands === undefined ? [] : [heading(commands)]),
    ...hosts.map(({ key, command, isLiteral, range }): PlanItem => {
      const shown = withoutIcons(commandLine(command));
      const words = isLiteral ? key : [key, vscode.l10n.t('made while it runs')].filter(Boolean).join(' · ');
      return { label: shown, iconPath: icon('terminal'), ...(words ? { description: words } : {}), range };
    }),
    heading(agentsWords(preview)),
    ...children.filter(({ lane }) => lane === null).map((child) => launchItem('circle-large-outline', child)),
    ...lanesOf(children).flatMap(([lane, stages]) => [
      heading(vscode.l10n.t('Lane {0}', lane)),
      ...stages.map((stage, index) => launchItem(index === 0 ? 'circle-large-outline' : 'arrow-right', stage)),
    ]),
    ...more.map((one) => launchItem('ellipsis', one)),
    ...(models.length === 0 ? [] : [heading(vscode.l10n.t('Models'))]),
    ...models.map((model): PlanItem => ({ label: model.name, iconPath: icon('chip'), description: priceWords(model) })),
  ];
}

function heading(label: string): PlanItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function launchItem(mark: string, launch: Parameters<typeof launchWords>[0] & { key: string }): PlanItem {
  const { key, problem, range } = launch;
  return {
    label: withoutIcons(key),
    iconPath: icon(problem ? 'warning' : mark),
    description: launchWords(launch).join(' · '),
    range,
  };
}

function icon(id: string): vscode.ThemeIcon {
  return new vscode.ThemeIcon(id);
}

/** The lanes in the order of the script, each with its stages. */
function lanesOf(children: readonly PreviewedChild[]): [string, PreviewedChild[]][] {
  const lanes = new Map<string, PreviewedChild[]>();
  for (const child of children)
    if (child.lane !== null) lanes.set(child.lane, [...(lanes.get(child.lane) ?? []), child]);
  return [...lanes];
}

/** A command such as `echo $(date)` must not become a picture. */
function withoutIcons(text: string): string {
  return text.replaceAll('$(', '$\u200b(');
}

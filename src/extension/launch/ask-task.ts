/** The box in which a task is typed, or taken from those launched before. What will run stands in it, and can be changed. */
import * as vscode from 'vscode';
import { plainLabel } from '../plain-label.ts';
import { type PlanItem, planItems, troubleItems } from './agent-plan-items.ts';
import type { Draft } from './draft.ts';
import type { AgentForecast } from './foresee-agent.ts';
import { modelWords } from './model-words.ts';
import { type Workplace, workplaceWords } from './workplaces.ts';

export type TaskAnswer =
  | { kind: 'launch'; task: string }
  | { kind: 'editor'; task: string }
  | { kind: 'model' }
  | { kind: 'workplace' };

interface TaskItem extends vscode.QuickPickItem {
  choose?: 'typed' | 'recent' | 'editor' | PlanItem['choose'];
  task?: string;
}

export interface TaskQuestion {
  draft: Draft & { agent: string };
  recent: readonly string[];
  workplace: Workplace;
  /** Resolves when it is known what will run. */
  forecast: Promise<AgentForecast>;
  /** Shows the plan to be read, and leaves the focus where it is. */
  showPlan: () => void;
  /** Called with every change of what is typed. */
  onTyped: (task: string) => void;
}

/** `undefined`: the box was closed. What was typed has been reported. */
export async function askTask(question: TaskQuestion): Promise<TaskAnswer | undefined> {
  const { draft, forecast, showPlan, onTyped } = question;
  const box = vscode.window.createQuickPick<TaskItem>();
  const inEditor = { iconPath: new vscode.ThemeIcon('edit'), tooltip: vscode.l10n.t('Write in an Editor') };
  const model = { iconPath: new vscode.ThemeIcon('chip'), tooltip: vscode.l10n.t('Choose the Model') };
  const workplace = {
    iconPath: new vscode.ThemeIcon('git-branch'),
    tooltip: vscode.l10n.t('Choose Folder or Worktree'),
  };
  const plan = { iconPath: new vscode.ThemeIcon('open-preview'), tooltip: vscode.l10n.t('Show the Plan') };
  let isOver = false;
  const title = draft.attached
    ? vscode.l10n.t('Launch {0} on {1}', draft.agent, draft.attached.label)
    : vscode.l10n.t('Launch {0}', draft.agent);
  try {
    box.title = title;
    box.placeholder = vscode.l10n.t('What should it do? Say it in a sentence or two.');
    box.ignoreFocusOut = true;
    box.buttons = [model, workplace, plan, inEditor];
    // One line is all that the box can hold.
    const manyLines = draft.task.includes('\n');
    box.value = manyLines ? '' : draft.task;
    let known: AgentForecast | undefined;
    const show = () => {
      box.items = itemsFor(box.value, question, known);
    };
    show();
    box.busy = true;
    void forecast.then((found) => {
      if (isOver) return;
      known = found;
      box.busy = false;
      const [active] = box.activeItems;
      show();
      // Whoever is on a row already stays on it.
      box.activeItems = box.items.filter(({ label, choose }) => label === active?.label && choose === active.choose);
    });
    return await new Promise<TaskAnswer | undefined>((resolve) => {
      const toEditor = (): TaskAnswer => ({ kind: 'editor', task: box.value.trim() === '' ? draft.task : box.value });
      box.onDidChangeValue((value) => {
        // An empty box beside a task of many lines must not take that away.
        if (!manyLines || value.trim() !== '') onTyped(value);
        show();
      });
      box.onDidTriggerButton((button) => {
        if (button === plan) showPlan();
        else resolve(button === inEditor ? toEditor() : { kind: button === model ? 'model' : 'workplace' });
      });
      box.onDidAccept(() => {
        const item = box.selectedItems[0];
        if (item?.choose === 'recent' && item.task !== undefined) {
          // Taken into the box, not launched: it can be changed first.
          if (item.task.includes('\n')) resolve({ kind: 'editor', task: item.task });
          else {
            box.value = item.task;
            onTyped(item.task);
            show();
          }
        } else if (item?.choose === 'plan') showPlan();
        else if (item?.choose === 'model' || item?.choose === 'workplace') resolve({ kind: item.choose });
        else if (box.value.trim() !== '') {
          // Also when the row of what is typed was not there yet: Enter can be quicker.
          resolve({ kind: 'launch', task: box.value });
        } else if (item?.choose === 'editor') resolve(toEditor());
      });
      box.onDidHide(() => resolve(undefined));
      box.show();
    });
  } finally {
    isOver = true;
    box.dispose();
  }
}

/** Of an empty box the rows stand in groups; while something is typed, those that it does not fit stay as well, but for other tasks. */
function itemsFor(
  typed: string,
  { draft, recent, workplace }: Pick<TaskQuestion, 'draft' | 'recent' | 'workplace'>,
  forecast: AgentForecast | undefined,
): TaskItem[] {
  const trouble = forecast ? troubleItems(forecast) : [];
  const plan = planItems(draft, workplace, forecast);
  const others = recent.filter((task) => task !== typed).map((task) => recentItem(task));
  if (typed.trim() === '') {
    return [
      ...group(vscode.l10n.t('launched before'), others),
      ...group(vscode.l10n.t('to be known'), trouble),
      ...group(vscode.l10n.t('what will run'), plan),
      ...group(vscode.l10n.t('more'), [editorItem(draft)]),
    ];
  }
  const iconPath = new vscode.ThemeIcon('play');
  const how =
    workplace.kind === 'folder'
      ? vscode.l10n.t('launch {0}, model: {1}', draft.agent, modelWords(draft))
      : vscode.l10n.t('launch {0} {1}, model: {2}', draft.agent, workplaceWords(workplace), modelWords(draft));
  const launch: TaskItem = { label: plainLabel(typed), description: how, iconPath, choose: 'typed' };
  const shown = [launch, ...trouble, ...plan].map((item): TaskItem => ({ ...item, alwaysShow: true }));
  return [...shown, ...group(vscode.l10n.t('launched before'), others)];
}

function group(label: string, items: readonly TaskItem[]): TaskItem[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function recentItem(task: string): TaskItem {
  const lines = task.split('\n');
  const more = lines.length > 1 ? { description: vscode.l10n.t('{0} lines', lines.length) } : {};
  return {
    label: plainLabel(lines[0] ?? ''),
    ...more,
    iconPath: new vscode.ThemeIcon('history'),
    choose: 'recent',
    task,
  };
}

function editorItem({ task }: Draft): TaskItem {
  const item = { iconPath: new vscode.ThemeIcon('edit'), choose: 'editor' as const };
  if (!task.includes('\n')) return { ...item, label: vscode.l10n.t('Write in an Editor…') };
  return {
    ...item,
    label: vscode.l10n.t('Go On Writing in an Editor…'),
    description: plainLabel(task.trim().split('\n')[0] ?? ''),
  };
}

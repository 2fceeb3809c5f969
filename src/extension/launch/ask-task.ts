/** The box in which a task is typed, or taken from those launched before. */
import * as vscode from 'vscode';
import { plainLabel } from '../plain-label.ts';
import type { Draft } from './draft.ts';

export type TaskAnswer = { kind: 'launch'; task: string } | { kind: 'editor'; task: string } | { kind: 'model' };

interface TaskItem extends vscode.QuickPickItem {
  choose?: 'typed' | 'recent' | 'editor' | 'model';
  task?: string;
}

export interface TaskQuestion {
  draft: Draft & { agent: string };
  recent: readonly string[];
  /** Called with every change of what is typed. */
  onTyped: (task: string) => void;
}

/** `undefined`: the box was closed. What was typed has been reported. */
export async function askTask({ draft, recent, onTyped }: TaskQuestion): Promise<TaskAnswer | undefined> {
  const box = vscode.window.createQuickPick<TaskItem>();
  const inEditor = { iconPath: new vscode.ThemeIcon('edit'), tooltip: vscode.l10n.t('Write in an Editor') };
  const model = { iconPath: new vscode.ThemeIcon('chip'), tooltip: vscode.l10n.t('Choose the Model') };
  const title = draft.attached
    ? vscode.l10n.t('Launch {0} on {1}', draft.agent, draft.attached.label)
    : vscode.l10n.t('Launch {0}', draft.agent);
  try {
    box.title = title;
    box.placeholder = vscode.l10n.t('What should it do? Say it in a sentence or two.');
    box.ignoreFocusOut = true;
    box.buttons = [model, inEditor];
    // One line is all that the box can hold.
    const manyLines = draft.task.includes('\n');
    box.value = manyLines ? '' : draft.task;
    const show = () => {
      box.items = itemsFor(box.value, draft, recent);
    };
    show();
    return await new Promise<TaskAnswer | undefined>((resolve) => {
      const toEditor = (): TaskAnswer => ({ kind: 'editor', task: box.value.trim() === '' ? draft.task : box.value });
      box.onDidChangeValue((value) => {
        // An empty box beside a task of many lines must not take that away.
        if (!manyLines || value.trim() !== '') onTyped(value);
        show();
      });
      box.onDidTriggerButton((button) => resolve(button === inEditor ? toEditor() : { kind: 'model' }));
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
        } else if (box.value.trim() !== '') {
          // Also when the row of what is typed was not there yet: Enter can be quicker.
          resolve({ kind: 'launch', task: box.value });
        } else if (item?.choose === 'model') resolve({ kind: 'model' });
        else if (item?.choose === 'editor') resolve(toEditor());
      });
      box.onDidHide(() => resolve(undefined));
      box.show();
    });
  } finally {
    box.dispose();
  }
}

function itemsFor(typed: string, draft: Draft & { agent: string }, recent: readonly string[]): TaskItem[] {
  const items: TaskItem[] = [];
  if (typed.trim() !== '') {
    const iconPath = new vscode.ThemeIcon('play');
    const description = vscode.l10n.t('launch {0}, model: {1}', draft.agent, modelWords(draft));
    items.push({ label: plainLabel(typed), description, iconPath, choose: 'typed', alwaysShow: true });
  }
  const others = recent.filter((task) => task !== typed);
  if (others.length > 0) {
    items.push({ label: vscode.l10n.t('launched before'), kind: vscode.QuickPickItemKind.Separator });
    items.push(...others.map((task) => recentItem(task)));
  }
  if (typed.trim() === '') {
    items.push({ label: vscode.l10n.t('more'), kind: vscode.QuickPickItemKind.Separator });
    items.push(editorItem(draft));
    items.push({
      label: vscode.l10n.t('Model…'),
      description: modelWords(draft),
      iconPath: new vscode.ThemeIcon('chip'),
      choose: 'model',
    });
  }
  return items;
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

/** The model of a draft, as a person is told it. */
export function modelWords({ model, thinking }: Draft): string {
  const name = model ?? vscode.l10n.t('default');
  return thinking === undefined ? name : vscode.l10n.t('{0}, thinking {1}', name, thinking);
}

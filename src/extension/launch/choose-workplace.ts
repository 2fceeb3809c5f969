/** In the folder, or in a new worktree, and from what: with the reason where no worktree can be made. */
import * as vscode from 'vscode';
import { offerWorktree, type WorktreeOffer } from '../../client/index.ts';
import { LanesError } from '../../protocol/index.ts';
import { showError } from '../messages.ts';
import { plainLabel } from '../plain-label.ts';
import type { Services } from '../services.ts';
import { refusalRow } from './refusal-words.ts';
import { isSameWorkplace, type Launched, type Workplace } from './workplaces.ts';

interface WorkplaceItem extends vscode.QuickPickItem {
  workplace?: Workplace;
  choose?: 'base' | 'refused';
}

/** Asks, and remembers the answer for the folder. `false`: nothing was chosen. */
export async function chooseWorkplace(
  services: Services,
  folder: vscode.WorkspaceFolder,
  launched: Launched,
): Promise<boolean> {
  const { toolbox, workplaces } = services;
  const uri = folder.uri.toString();
  const current = workplaces.of(uri, launched);
  const offer = offerWorktree(toolbox, folder.uri.fsPath, folder.name, baseOf(current));
  const picked = await pickWorkplace(services, folder, { launched, current, offer });
  const workplace = picked === 'base' ? await pickBase(await offer) : picked;
  if (!workplace) return false;
  await workplaces.save(uri, launched, workplace);
  return true;
}

function baseOf(workplace: Workplace): string | undefined {
  return workplace.kind === 'worktree' ? workplace.baseRef : undefined;
}

interface WorkplaceQuestion {
  launched: Launched;
  current: Workplace;
  offer: Promise<WorktreeOffer>;
}

async function pickWorkplace(
  { log }: Services,
  folder: vscode.WorkspaceFolder,
  { launched, current, offer }: WorkplaceQuestion,
): Promise<Workplace | 'base' | undefined> {
  const box = vscode.window.createQuickPick<WorkplaceItem>();
  try {
    box.title = vscode.l10n.t('Folder or Worktree');
    box.placeholder =
      launched === 'agent'
        ? vscode.l10n.t('Where should the agent work?')
        : vscode.l10n.t('Where should agents work for which the script names no place?');
    box.ignoreFocusOut = true;
    box.busy = true;
    const known = await offer;
    box.busy = false;
    box.items = workplaceItems(folder, known, launched, current);
    const chosen = box.items.filter(({ workplace }) => workplace && isSameWorkplace(workplace, current));
    if (chosen.length > 0) box.activeItems = chosen;
    return await new Promise<Workplace | 'base' | undefined>((resolve) => {
      box.onDidAccept(() => {
        const [item] = box.selectedItems;
        if (item?.workplace) resolve(item.workplace);
        else if (item?.choose === 'base') resolve('base');
        // The whole reason with the next step; the choice stays open.
        else if (item?.choose === 'refused' && known.refusal) showError(new LanesError(known.refusal), log);
      });
      box.onDidHide(() => resolve(undefined));
      box.show();
    });
  } finally {
    box.dispose();
  }
}

export function workplaceItems(
  { name }: Pick<vscode.WorkspaceFolder, 'name'>,
  { refusal, head, refs }: WorktreeOffer,
  launched: Launched,
  current: Workplace,
): WorkplaceItem[] {
  const inFolder: WorkplaceItem = {
    label: vscode.l10n.t('In the folder itself'),
    description: plainLabel(name),
    detail:
      launched === 'agent'
        ? vscode.l10n.t('It changes your files, together with what is not committed yet.')
        : vscode.l10n.t('They change your files, one after the other, unless the script gives them worktrees.'),
    iconPath: new vscode.ThemeIcon('folder'),
    workplace: { kind: 'folder' },
  };
  if (refusal)
    return [inFolder, { ...refusalRow(refusal), iconPath: new vscode.ThemeIcon('circle-slash'), choose: 'refused' }];
  const base = baseOf(current);
  const detail =
    launched === 'agent'
      ? vscode.l10n.t('A checkout of its own on a new branch. Your files stay as they are; what it changes is kept.')
      : vscode.l10n.t('Each gets a checkout of its own on a new branch. Your files stay as they are.');
  const worktree = { iconPath: new vscode.ThemeIcon('git-branch'), detail };
  const label = vscode.l10n.t('In a new worktree');
  const fromHead = head === null ? vscode.l10n.t('from HEAD') : vscode.l10n.t('from HEAD, now {0}', plainLabel(head));
  return [
    inFolder,
    { ...worktree, label, description: fromHead, workplace: { kind: 'worktree' } },
    ...(base === undefined
      ? []
      : [
          {
            ...worktree,
            label,
            description: vscode.l10n.t('from {0}', plainLabel(base)),
            workplace: { kind: 'worktree' as const, baseRef: base },
          },
        ]),
    ...(refs.length === 0
      ? []
      : [
          {
            label: vscode.l10n.t('In a new worktree from another branch or tag…'),
            iconPath: new vscode.ThemeIcon('git-commit'),
            choose: 'base' as const,
          },
        ]),
  ];
}

async function pickBase({ refs, head }: WorktreeOffer): Promise<Workplace | undefined> {
  const icons = { branch: 'git-branch', remote: 'cloud', tag: 'tag' };
  const words = {
    branch: vscode.l10n.t('branch'),
    remote: vscode.l10n.t('branch of a remote'),
    tag: vscode.l10n.t('tag'),
  };
  const items = refs.map(({ name, kind }) => ({
    label: plainLabel(name),
    description: name === head ? vscode.l10n.t('{0}, checked out', words[kind]) : words[kind],
    iconPath: new vscode.ThemeIcon(icons[kind]),
    name,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Folder or Worktree'),
    placeHolder: vscode.l10n.t('From which branch or tag should the worktree start?'),
    ignoreFocusOut: true,
  });
  return picked && { kind: 'worktree', baseRef: picked.name };
}

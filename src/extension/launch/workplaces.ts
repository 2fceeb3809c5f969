/** Where agents work: in the folder itself, or each in a new worktree. Chosen by a person, and remembered for each folder. */
import * as vscode from 'vscode';
import type { LaunchRequest } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';

/** `baseRef`: branch or tag that the worktree starts from; absent: `HEAD`. */
export type Workplace = { kind: 'folder' } | { kind: 'worktree'; baseRef?: string };

/** Somebody may want worktrees for the agents of a workflow, and none for a single one. */
export type Launched = 'agent' | 'workflow';

const KEY = 'launch.workplaces';
const FOLDER: Workplace = { kind: 'folder' };

/** By the URI of the workspace folder. */
type Kept = Record<string, { [L in Launched]?: Workplace }>;

export class Workplaces implements vscode.Disposable {
  readonly #state: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;

  constructor(state: vscode.Memento) {
    this.#state = state;
  }

  /** @param folder URI of the workspace folder; absent: nobody has chosen one yet */
  of(folder: string | undefined, launched: Launched): Workplace {
    return (folder === undefined ? undefined : this.#kept()[folder]?.[launched]) ?? FOLDER;
  }

  async save(folder: string, launched: Launched, workplace: Workplace): Promise<void> {
    const kept = this.#kept();
    await this.#state.update(KEY, { ...kept, [folder]: { ...kept[folder], [launched]: workplace } });
    this.#changed.fire();
  }

  #kept(): Kept {
    return this.#state.get<Kept>(KEY) ?? {};
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** What a launch is asked for, so that it happens there. */
export function workplaceFields(workplace: Workplace): Pick<LaunchRequest, 'worktree' | 'baseRef'> {
  if (workplace.kind === 'folder') return {};
  return { worktree: true, ...(workplace.baseRef === undefined ? {} : { baseRef: workplace.baseRef }) };
}

export function isSameWorkplace(one: Workplace, other: Workplace): boolean {
  const [a, b] = [workplaceFields(one), workplaceFields(other)];
  return a.worktree === b.worktree && a.baseRef === b.baseRef;
}

/** Behind what works there: `scout, in a new worktree from main`. */
export function workplaceWords(workplace: Workplace): string {
  if (workplace.kind === 'folder') return vscode.l10n.t('in the folder itself');
  return vscode.l10n.t('in a new worktree from {0}', visible(workplace.baseRef ?? 'HEAD'));
}

/** The same of the agents of a workflow, whose script may say otherwise for some of them. */
export function agentsPlaceWords(workplace: Workplace): string {
  if (workplace.kind === 'folder') return vscode.l10n.t('agents work in the folder, unless the script says otherwise');
  const base = visible(workplace.baseRef ?? 'HEAD');
  return vscode.l10n.t('each agent in a new worktree from {0}, unless the script says otherwise', base);
}

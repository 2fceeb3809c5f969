/** What the Runs view shows around its rows: badge, filter, and which welcome stands there when it is empty. */
import * as vscode from 'vscode';
import { BUILT_IN, CONTEXT, type EmptyReason } from '../../command-ids.ts';
import type { RunFilter } from '../../runs/run-filter.ts';
import type { RunsLayout } from '../../runs/runs-layout.ts';
import type { RunsProblem } from '../../runs/runs-model.ts';
import { stateWord } from './run-words.ts';

export function filterText({ text, states }: RunFilter): string {
  const words = text.trim() === '' ? [] : [`"${text.trim()}"`];
  return [...words, ...states.map(stateWord)].join(', ');
}

/** Why nothing is shown; `undefined` when something is. */
export function emptyReason(layout: RunsLayout, problems: readonly RunsProblem[]): EmptyReason | undefined {
  if (layout.shown > 0 || (problems.length > 0 && layout.total > 0)) return undefined;
  if (layout.total > 0) return layout.projects.some(({ project }) => project.hasMore) ? 'filtered-older' : 'filtered';
  return problems[0]?.kind ?? 'none';
}

export class ViewState {
  readonly #view: vscode.TreeView<unknown>;
  readonly #contexts = new Map<string, unknown>();
  #message: string | undefined;
  #description: string | undefined;

  constructor(view: vscode.TreeView<unknown>) {
    this.#view = view;
  }

  /** @param needed how many runs need a person, whatever the filter hides */
  show(layout: RunsLayout, filter: RunFilter, problems: readonly RunsProblem[], needed: number): void {
    const tooltip = needed === 1 ? vscode.l10n.t('1 run needs you.') : vscode.l10n.t('{0} runs need you.', needed);
    if (this.#view.badge?.value !== (needed || undefined))
      this.#view.badge = needed > 0 ? { value: needed, tooltip } : undefined;
    // A message would stand in the place of the welcome, which says what to do when nothing matches.
    const counts = layout.filtering && layout.shown > 0;
    const words = vscode.l10n.t('{0} of {1} runs: {2}', layout.shown, layout.total, filterText(filter));
    this.#say(counts ? words : undefined, layout.filtering && !counts ? filterText(filter) : undefined);
    this.#setContext(CONTEXT.filtering, layout.filtering);
    this.#setContext(CONTEXT.empty, emptyReason(layout, problems));
  }

  /** VS Code takes a message for a change of the rows even when it says the same, and makes the rows wait for it. */
  #say(message: string | undefined, description: string | undefined): void {
    if (message !== this.#message) this.#view.message = this.#message = message;
    if (description !== this.#description) this.#view.description = this.#description = description;
  }

  #setContext(key: string, value: unknown): void {
    if (this.#contexts.has(key) && this.#contexts.get(key) === value) return;
    this.#contexts.set(key, value);
    void vscode.commands.executeCommand(BUILT_IN.setContext, key, value);
  }
}

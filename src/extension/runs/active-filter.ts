/** The filter of the Runs view, remembered per workspace. */
import * as vscode from 'vscode';
import { NO_FILTER, type RunFilter } from './run-filter.ts';

const KEY = 'runs.filter';

export class ActiveFilter implements vscode.Disposable {
  readonly #state: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  #value: RunFilter;
  readonly onDidChange = this.#changed.event;

  constructor(state: vscode.Memento) {
    this.#state = state;
    this.#value = state.get<RunFilter>(KEY) ?? NO_FILTER;
  }

  get value(): RunFilter {
    return this.#value;
  }

  async set(filter: RunFilter): Promise<void> {
    this.#value = filter;
    this.#changed.fire();
    await this.#state.update(KEY, filter);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

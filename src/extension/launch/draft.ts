/** The task somebody is about to launch. It is kept until it has been, through failures and reloads of the window. */
import * as vscode from 'vscode';
import type { Attachment } from './attachment.ts';

export interface Draft {
  task: string;
  agent?: string;
  /** `provider/id`; absent: the default. */
  model?: string;
  thinking?: string;
  /** URI of the workspace folder. */
  folder?: string;
  attached?: Attachment;
}

const KEY = 'launch.draft';
const NOTHING: Draft = { task: '' };

export class DraftStore implements vscode.Disposable {
  readonly #state: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  #draft: Draft;
  readonly onDidChange = this.#changed.event;

  constructor(state: vscode.Memento) {
    this.#state = state;
    this.#draft = state.get<Draft>(KEY) ?? NOTHING;
  }

  get value(): Draft {
    return this.#draft;
  }

  /** Lays fields over what is kept; `undefined` takes one away. */
  async save(change: { [K in keyof Draft]?: Draft[K] | undefined }): Promise<void> {
    const fields = Object.entries({ ...this.#draft, ...change }).filter(([, value]) => value !== undefined);
    this.#draft = { ...NOTHING, ...Object.fromEntries(fields) };
    this.#changed.fire();
    await this.#state.update(KEY, this.#draft);
  }

  async clear(): Promise<void> {
    this.#draft = NOTHING;
    this.#changed.fire();
    await this.#state.update(KEY, undefined);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

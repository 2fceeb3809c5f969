import type { ChildProgress } from '../core/children/index.ts';
import type { JournalEvent } from '../protocol/index.ts';

/** Milliseconds in which changes are gathered into one journal line. */
const COALESCE_MS = 100;

/** Writes a child's progress to the journal: at most one line per moment, always the newest. */
export class ProgressNotes {
  readonly #write: (event: JournalEvent) => void;
  readonly #child: number;
  #latest: ChildProgress | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (event: JournalEvent) => void, child: number) {
    this.#write = write;
    this.#child = child;
  }

  update(progress: ChildProgress): void {
    this.#latest = progress;
    this.#timer ??= setTimeout(() => this.#flush(), COALESCE_MS);
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#latest) this.#write({ type: 'child.progress', child: this.#child, ...this.#latest });
    this.#latest = undefined;
  }

  /** Nothing more is written: what comes next in the journal says it all. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#latest = undefined;
  }
}

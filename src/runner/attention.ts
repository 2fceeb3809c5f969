/** When a person should look: the child is silent for long, works for very long, or fails with its edits again and again. */
import type { AttentionKind, ChildPhase, JournalEvent } from '../protocol/index.ts';

export interface AttentionLimits {
  idleMs: number;
  longMs: number;
  failures: number;
  failuresWithinMs: number;
}

export const ATTENTION_LIMITS: AttentionLimits = {
  idleMs: 60_000,
  longMs: 240_000,
  failures: 3,
  failuresWithinMs: 5 * 60_000,
};

/** A model that thinks hard is silent for longer. */
const PATIENCE: Readonly<Record<string, number>> = { medium: 2, high: 5, xhigh: 10, max: 10 };
const MUTATING = new Set(['edit', 'write', 'bash']);

export class Attention {
  readonly #note: (event: JournalEvent) => void;
  readonly #child: number;
  readonly #limits: AttentionLimits;
  #idleMs: number;
  readonly #raised = new Set<AttentionKind>();
  readonly #longTimer: NodeJS.Timeout;
  #idleTimer: NodeJS.Timeout | undefined;
  #failures: number[] = [];
  #begun = false;

  constructor(
    note: (event: JournalEvent) => void,
    child: number,
    thinking: string | undefined,
    limits: AttentionLimits = ATTENTION_LIMITS,
  ) {
    this.#note = note;
    this.#child = child;
    this.#limits = limits;
    this.#idleMs = limits.idleMs;
    this.thinking = thinking;
    this.#longTimer = setTimeout(
      () => this.#raise('active_long_running', 'It has been working for a long time.'),
      limits.longMs,
    );
    this.#longTimer.unref();
  }

  /** The level the child really thinks at: its own default, when none was asked for. */
  set thinking(level: string | undefined) {
    this.#idleMs = this.#limits.idleMs * (PATIENCE[level ?? ''] ?? 1);
  }

  /** What the child is doing has changed. Silence counts from its first turn on, and not while a tool runs. */
  activity(phase: ChildPhase, turns: number): void {
    this.#begun ||= turns > 0;
    this.#clear('needs_attention');
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    if (!this.#begun || phase === 'tool' || phase === 'idle' || phase === 'ending') return;
    const seconds = Math.round(this.#idleMs / 1000);
    this.#idleTimer = setTimeout(
      () => this.#raise('needs_attention', `Nothing has been heard from it for ${seconds} seconds.`),
      this.#idleMs,
    );
    this.#idleTimer.unref();
  }

  /** A sign of life in between: an answer is streamed for minutes without any other change. */
  heard(): void {
    this.#clear('needs_attention');
    this.#idleTimer?.refresh();
  }

  /** `now` in milliseconds of a clock that nobody sets. */
  toolEnded(name: string, isError: boolean, now: number = performance.now()): void {
    if (!MUTATING.has(name)) return;
    if (!isError) {
      this.#failures = [];
      this.#clear('failing_tools');
      return;
    }
    this.#failures = [...this.#failures.filter((at) => now - at < this.#limits.failuresWithinMs), now];
    if (this.#failures.length >= this.#limits.failures) {
      this.#raise('failing_tools', `${this.#failures.length} edits or commands in a row have failed.`);
    }
  }

  #raise(kind: AttentionKind, text: string): void {
    if (this.#raised.has(kind)) return;
    this.#raised.add(kind);
    this.#note({ type: 'attention.raised', child: this.#child, kind, text });
  }

  #clear(kind: AttentionKind): void {
    if (this.#raised.delete(kind)) this.#note({ type: 'attention.cleared', child: this.#child, kind });
  }

  dispose(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    clearTimeout(this.#longTimer);
  }
}

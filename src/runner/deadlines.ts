/** The time limits of a run: of the whole, and of single tool calls. Each tool call has its own. */
import type { AliveClock } from '../core/time/index.ts';
import { describeError, formatDuration, type JournalEvent } from '../protocol/index.ts';
import type { RunControl } from './run-control.ts';

/** Pi's file tools are over in moments; one that takes this long hangs. Others (bash) have no limit unless configured. */
export const FILE_TOOL_MS = 300_000;
const FILE_TOOLS = new Set(['read', 'grep', 'find', 'ls', 'edit', 'write', 'structured_output']);
/** Tools that wait for a person or another agent. */
const WAITING_TOOLS = new Set(['contact_supervisor', 'intercom', 'subagent_wait', 'bg_wait']);

/** What a child may take. */
export interface ChildLimits {
  /** Number of the child. */
  index: number;
  /** Whose limit `timeoutMs` is. */
  scope: 'run' | 'child';
  /** Milliseconds of the clock at which the work must be over; null: no limit. */
  timeoutMs: number | null;
  /** Milliseconds one tool call may take; absent: five minutes for Pi's file tools, no limit for others. */
  toolTimeoutMs: number | undefined;
}

export class Deadlines {
  readonly #clock: AliveClock;
  readonly #control: RunControl;
  readonly #limits: ChildLimits;
  readonly #note: (event: JournalEvent) => Promise<void>;
  readonly #tools = new Map<string, () => void>();
  readonly #stopRun: () => void;
  #phase = 'starting';

  /** @param note writes an event before the limit takes effect, as far as the disk allows */
  constructor(
    clock: AliveClock,
    limits: ChildLimits,
    control: RunControl,
    note: (event: JournalEvent) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#control = control;
    this.#note = note;
    const { timeoutMs } = limits;
    this.#stopRun =
      timeoutMs === null
        ? () => undefined
        : clock.after(Math.max(0, timeoutMs - clock.elapsed), () => this.#runOver(timeoutMs).catch(() => undefined));
  }

  set phase(phase: string) {
    this.#phase = phase;
  }

  async #runOver(limitMs: number): Promise<void> {
    const phase = this.#phase;
    const { index, scope } = this.#limits;
    await this.#note({ type: 'timeout.reached', child: index, scope, tool: null, phase, limitMs });
    const duration = formatDuration(limitMs);
    this.#control.request('timeout', describeError('timed_out', { ms: limitMs, duration, phase }));
  }

  toolStarted(id: string, name: string): void {
    if (WAITING_TOOLS.has(name)) return;
    const limitMs = this.#limits.toolTimeoutMs ?? (FILE_TOOLS.has(name) ? FILE_TOOL_MS : undefined);
    if (limitMs === undefined) return;
    const { timeoutMs } = this.#limits;
    // The run ends first anyway.
    if (timeoutMs !== null && timeoutMs - this.#clock.elapsed <= limitMs) return;
    this.#tools.set(
      id,
      this.#clock.after(limitMs, () => this.#toolOver(name, limitMs).catch(() => undefined)),
    );
  }

  toolEnded(id: string): void {
    this.#tools.get(id)?.();
    this.#tools.delete(id);
  }

  async #toolOver(name: string, limitMs: number): Promise<void> {
    await this.#note({
      type: 'timeout.reached',
      child: this.#limits.index,
      scope: 'tool',
      tool: name,
      phase: 'tool',
      limitMs,
    });
    const duration = formatDuration(limitMs);
    this.#control.request('timeout', describeError('tool_timed_out', { tool: name, ms: limitMs, duration }));
  }

  dispose(): void {
    this.#stopRun();
    for (const stop of this.#tools.values()) stop();
    this.#tools.clear();
  }
}

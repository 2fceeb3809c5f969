/** The time limits of a run: of the whole, and of single tool calls. Each tool call has its own. */
import type { AliveClock } from '../core/time/index.ts';
import { describeError, formatDuration, type JournalEvent, type LaunchRecord } from '../protocol/index.ts';
import type { RunControl } from './run-control.ts';

/** Pi's file tools are over in moments; one that takes this long hangs. Others (bash) have no limit unless configured. */
export const FILE_TOOL_MS = 300_000;
const FILE_TOOLS = new Set(['read', 'grep', 'find', 'ls', 'edit', 'write', 'structured_output']);
/** Tools that wait for a person or another agent. */
const WAITING_TOOLS = new Set(['contact_supervisor', 'intercom', 'subagent_wait', 'bg_wait']);

export class Deadlines {
  readonly #clock: AliveClock;
  readonly #control: RunControl;
  readonly #record: LaunchRecord;
  readonly #note: (event: JournalEvent) => Promise<void>;
  readonly #tools = new Map<string, () => void>();
  readonly #stopRun: () => void;
  #phase = 'starting';

  /** @param note writes an event before the limit takes effect, as far as the disk allows */
  constructor(
    clock: AliveClock,
    record: LaunchRecord,
    control: RunControl,
    note: (event: JournalEvent) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#record = record;
    this.#control = control;
    this.#note = note;
    const { timeoutMs } = record;
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
    await this.#note({ type: 'timeout.reached', child: 1, scope: 'run', tool: null, phase, limitMs });
    const duration = formatDuration(limitMs);
    this.#control.request('timeout', describeError('timed_out', { ms: limitMs, duration, phase }));
  }

  toolStarted(id: string, name: string): void {
    if (WAITING_TOOLS.has(name)) return;
    const limitMs = this.#record.child.toolTimeoutMs ?? (FILE_TOOLS.has(name) ? FILE_TOOL_MS : undefined);
    if (limitMs === undefined) return;
    const { timeoutMs } = this.#record;
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
    await this.#note({ type: 'timeout.reached', child: 1, scope: 'tool', tool: name, phase: 'tool', limitMs });
    const duration = formatDuration(limitMs);
    this.#control.request('timeout', describeError('tool_timed_out', { tool: name, ms: limitMs, duration }));
  }

  dispose(): void {
    this.#stopRun();
    for (const stop of this.#tools.values()) stop();
    this.#tools.clear();
  }
}

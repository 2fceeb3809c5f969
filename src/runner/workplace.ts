/** The folder a child works in: its own worktree, or a checkout that no other child changes meanwhile. */
import { checkoutOf, mayWrite, takeCheckout } from '../core/checkouts/index.ts';
import type { Lock } from '../core/locks/index.ts';
import { rootLayout } from '../core/projects/index.ts';
import { childRunId } from '../core/runs/index.ts';
import type { AliveClock } from '../core/time/index.ts';
import type { WorktreeSource } from '../core/worktrees/index.ts';
import type { ChildPlan, WorktreeRecord } from '../protocol/index.ts';
import type { OpenRun } from './open-run.ts';
import { proceeded } from './proceeded.ts';
import type { RunControl } from './run-control.ts';
import type { RunWorktrees, WorktreeOwner } from './run-worktrees.ts';

export interface WorkplaceOptions {
  run: OpenRun;
  index: number;
  plan: ChildPlan;
  /** Folder it is launched from, absolute. */
  cwd: string;
  control: RunControl;
  /** By which its time is limited: it stands still while the child waits for a checkout. */
  clock: Pick<AliveClock, 'hold'>;
  /** Absent: it works in `cwd`. */
  worktree?: {
    worktrees: RunWorktrees;
    /** What the branch is named after. */
    label: string;
    /** Where a new one starts from; asked when it is made. */
    source: () => Promise<WorktreeSource>;
    /** It goes on in the worktree of another child. */
    of?: WorktreeOwner | undefined;
  };
}

export class Workplace {
  readonly #options: WorkplaceOptions;
  #lease: Lock | undefined;

  constructor(options: WorkplaceOptions) {
    this.#options = options;
  }

  /**
   * Makes or enters the worktree, or waits for the checkout. Only now may the child start.
   * @returns the folder it works in
   * @throws LanesError when there is none as asked; whatever it throws after an end was asked for says nothing
   */
  async enter(): Promise<string> {
    const { worktree, cwd, plan, run } = this.#options;
    if (worktree) {
      const record = await this.#worktree(worktree);
      await this.#take(record.path, false);
      return record.folder;
    }
    const { writers = 'wait' } = run.record;
    if (writers === 'any' || !mayWrite(plan.agent)) return cwd;
    const checkout = await checkoutOf(cwd);
    if (checkout !== undefined) await this.#take(checkout, writers === 'wait');
    return cwd;
  }

  /** When none of its processes is left: keeps what is in the worktree, and lets others in. Never rejects. */
  async leave(): Promise<void> {
    const { worktree, index } = this.#options;
    await worktree?.worktrees.capture(index);
    // What cannot be given back is free as soon as this process is gone.
    await this.#lease?.release().catch(() => undefined);
    this.#lease = undefined;
  }

  #worktree({ worktrees, label, source, of }: NonNullable<WorkplaceOptions['worktree']>): Promise<WorktreeRecord> {
    const { index, plan, control } = this.#options;
    if (of) return worktrees.join(index, of);
    return worktrees.make({ index, label, agent: plan.agent.name }, source, control.signal);
  }

  async #take(checkout: string, wait: boolean): Promise<void> {
    const { run, index, control, clock } = this.#options;
    let goOn: (() => void) | undefined;
    try {
      this.#lease = await takeCheckout(checkout, {
        locks: rootLayout(run.record.agentDir).checkouts,
        purpose: this.#purpose,
        wait,
        signal: control.signal,
        onWait: async (owner) => {
          // It has not begun: nothing of its time is used up.
          goOn ??= clock.hold();
          await run.append(...proceeded(run), { type: 'checkout.awaited', child: index, folder: checkout, owner });
        },
      });
    } finally {
      goOn?.();
    }
    if (goOn) await run.append({ type: 'checkout.taken', child: index, folder: checkout });
  }

  get #purpose(): string {
    const { run, index } = this.#options;
    const { key } = run.child(index) ?? {};
    const { runId } = run.record;
    return key === undefined ? `run ${runId}` : `${key} of run ${childRunId(runId, index)}`;
  }
}

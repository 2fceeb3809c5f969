/** A run with one child: what becomes of the child becomes of the run. */
import type { ChildDriver } from '../core/children/index.ts';
import { aliveWithoutWaitsMs } from '../core/runs/index.ts';
import { AliveClock } from '../core/time/index.ts';
import {
  type RecoverOrder,
  type RpcParams,
  type RpcResult,
  type SingleRecord,
  toErrorValue,
} from '../protocol/index.ts';
import { ChildDesk } from './child-desk.ts';
import type { Beginning } from './child-tools.ts';
import { workOnChild } from './child-work.ts';
import { Deadlines } from './deadlines.ts';
import { firstBeginning, ONLY_CHILD } from './only-child.ts';
import type { OpenRun } from './open-run.ts';
import { captureWorktrees, openWorktrees } from './open-worktrees.ts';
import { recover } from './recover.ts';
import type { RunControl } from './run-control.ts';
import type { RunResult, RunWork } from './run-work.ts';
import { Steering } from './steering.ts';
import { Workplace } from './workplace.ts';

export class SingleRun implements RunWork {
  readonly #run: OpenRun;
  readonly #record: SingleRecord;
  readonly #driver: ChildDriver;
  readonly #control: RunControl;
  /** From the beginning: a message may come before there is a child. */
  readonly #steering: Steering;
  #desk: ChildDesk | undefined;

  constructor(run: OpenRun, record: SingleRecord, driver: ChildDriver, control: RunControl) {
    this.#run = run;
    this.#record = record;
    this.#driver = driver;
    this.#control = control;
    this.#steering = new Steering(run);
  }

  begin(): Promise<RunResult> {
    return this.#execute(firstBeginning(this.#record));
  }

  async recover(order: RecoverOrder): Promise<RunResult> {
    const recovered = await recover(this.#run, this.#record, order);
    if (recovered.go === 'on') return this.#execute(recovered.beginning);
    await captureWorktrees(this.#run);
    return recovered.result;
  }

  async #workplace(clock: AliveClock): Promise<Workplace> {
    const run = this.#run;
    const { child: plan, cwd, worktree: wish, worktreeOf: of, lane, workflowKey } = this.#record;
    const common = { run, index: ONLY_CHILD, plan, cwd, control: this.#control, clock };
    if (!wish && !of) return new Workplace(common);
    const worktrees = await openWorktrees(run);
    const label = lane?.key ?? workflowKey ?? plan.label ?? plan.agent.name;
    const source = async () => {
      const [found] = await worktrees.check([{ key: plan.agent.name, cwd, wish: wish ?? {} }], this.#control.signal);
      if (!found) throw new Error('a checkout was not looked at');
      return found;
    };
    return new Workplace({ ...common, worktree: { worktrees, label, source, of } });
  }

  async #execute(beginning: Beginning): Promise<RunResult> {
    const run = this.#run;
    const { child: plan, timeoutMs } = this.#record;
    const index = ONLY_CHILD;
    const clock = new AliveClock({ before: aliveWithoutWaitsMs(run.earlier) });
    const control = this.#control;
    try {
      const layout = await run.childFolder(index);
      const limits = { index, scope: 'run' as const, timeoutMs, toolTimeoutMs: plan.toolTimeoutMs };
      const deadlines = new Deadlines(clock, limits, control, (event) => run.appendInTime(event));
      const desk = new ChildDesk(run, { index, plan }, layout, deadlines, this.#steering);
      this.#desk = desk;
      const workplace = await this.#workplace(clock);
      const tools = { run, index, plan, workplace, driver: this.#driver, control, desk, layout };
      const { state, error } = await workOnChild(tools, beginning);
      return { state, error };
    } catch (error) {
      return { state: 'failed', error: toErrorValue(error) };
    } finally {
      clock.dispose();
    }
  }

  steer(params: RpcParams<'steer'>): Promise<RpcResult<'steer'>> {
    return this.#steering.request(params);
  }

  async answer(params: RpcParams<'answer'>): Promise<RpcResult<'answer'>> {
    return (await this.#desk?.questions.answer(params)) ?? { accepted: false, reason: 'nothing is asked' };
  }

  close(): Promise<void> {
    return this.#steering.close();
  }

  get isEnding(): boolean {
    return this.#desk?.isOver ?? false;
  }

  hurry(): void {
    this.#desk?.hurry();
  }

  async endLiving(): Promise<void> {
    await this.#desk?.endLiving();
  }
}

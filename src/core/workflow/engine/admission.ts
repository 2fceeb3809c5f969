/** Which children and commands may start: by the number of children, what they have used, the files they write, and work that waits to be recovered. */
import { totalOf, usageReason } from './budget.ts';
import type { LaunchCall, WorkflowError } from './calls.ts';
import { type ChildView, isObject } from './child-result.ts';
import type { LimitsInForce } from './limits-in-force.ts';
import type { Binding, OutputBindings } from './output-bindings.ts';

/** How many children of a group that is refused are named: the numbers behind them are what counts. */
const NAMED_KEYS = 10;

/** Why children were not started. */
export interface Refused {
  message: string;
  kind?: WorkflowError['kind'];
  outcome?: ChildView['terminalOutcome'];
}

export class Admission {
  readonly #limits: LimitsInForce;
  readonly #outputs: OutputBindings;
  #spawned = 0;
  #usage = { tokens: 0, costUsd: 0 };
  /** The key of a child whose acceptance was rejected although its work can be recovered. */
  #toRecover: string | undefined;

  constructor(limits: LimitsInForce, outputs: OutputBindings) {
    this.#limits = limits;
    this.#outputs = outputs;
  }

  /** Takes all children of a group or none. @returns why none, if so */
  group(launches: readonly LaunchCall[]): Refused | undefined {
    const bindings = this.#outputs.bindings('children', launches);
    const refusal = this.#collision(launches, bindings) ?? this.#admit(launches);
    if (!refusal) this.#outputs.bind(bindings);
    return refusal;
  }

  #collision(launches: readonly LaunchCall[], bindings: readonly Binding[]): Refused | undefined {
    const reason = this.#outputs.collision(bindings);
    if (reason === undefined) return undefined;
    const keys = launches.map(({ key }) => `'${key}'`).join(', ');
    return { message: `Launching ${keys} was refused: ${reason} No child of the group was started.` };
  }

  #admit(launches: readonly LaunchCall[]): Refused | undefined {
    if (this.#toRecover !== undefined && launches.some(({ params }) => params['acceptance'] !== false)) {
      return {
        message: this.#recoveryFirst('Only reviews with acceptance: false can be launched now.'),
        kind: 'limit',
      };
    }
    const wanted = launches.filter(({ params }) => params['resume'] === undefined).length;
    const refusal = this.#limits.decide(({ maxSubagentSpawnsPerRun }) =>
      this.#tooMany(launches, wanted, maxSubagentSpawnsPerRun),
    );
    if (refusal !== undefined) return { message: refusal, kind: 'limit' };
    this.#spawned += wanted;
    return undefined;
  }

  #tooMany(launches: readonly LaunchCall[], wanted: number, limit: number): string | undefined {
    if (this.#spawned + wanted <= limit) return undefined;
    const named = launches.slice(0, NAMED_KEYS).map(({ key }) => `'${key}'`);
    const more = launches.length - named.length;
    return (
      `Launching ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''} was refused: ${this.#spawned} of ${limit} children of this run tree are used, ${wanted} more were requested, ` +
      `${limit - this.#spawned} remain. No child of the group was started. Raise maxSubagentSpawnsPerRun to allow more.`
    );
  }

  /** The work of a child waits to be recovered: nothing may be built on it before somebody has looked. */
  #recoveryFirst(advice: string): string {
    return `The work of '${this.#toRecover}' was done, but its report was not accepted and must be recovered first. ${advice}`;
  }

  /** Why one child of a group that was taken cannot be counted, if so. */
  uncounted({ params }: LaunchCall): Refused | undefined {
    const message = this.#limits.decide(({ usageBudget }) =>
      usageBudget && params['async'] === true
        ? 'With a usage budget a child cannot be "async": its use could not be counted.'
        : undefined,
    );
    return message === undefined ? undefined : { message };
  }

  /** Why the child whose turn it is does not start, if so: it is asked when there is a place for it, not before. */
  turn(): Refused | undefined {
    const message = this.#limits.decide(({ usageBudget }) => usageReason(usageBudget, this.#usage));
    const outcome = { state: 'partial', reason: 'budget_exhausted' };
    return message === undefined ? undefined : { message, kind: 'limit', outcome };
  }

  /** Why this is refused while the work of a child waits to be recovered, if so. */
  held(operation: 'steer' | 'host' | 'state.set'): string | undefined {
    return this.#toRecover === undefined ? undefined : this.#recoveryFirst(`${operation} is refused until then.`);
  }

  /** A child has come to its end: what it used counts, and what failed leaves its file to others. */
  settled(view: ChildView): void {
    if (!view.ok) this.#outputs.release(view.key);
    if (isObject(view['recovery'])) this.#toRecover ??= view.key;
    const used = totalOf(view['usage']);
    this.#usage = { tokens: this.#usage.tokens + used.tokens, costUsd: this.#usage.costUsd + used.costUsd };
  }

  get budgetExhausted(): boolean {
    return usageReason(this.#limits.now.usageBudget, this.#usage) !== undefined;
  }
}

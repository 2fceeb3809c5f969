/** Which limits decide: while a step of a record is repeated those it had, as long as those of now decide the same. */
import type { WorkflowLimits } from '../../../protocol/index.ts';

export class LimitsInForce {
  readonly #now: WorkflowLimits;
  /** While a step of a record is repeated: the limits that it had. */
  #then: WorkflowLimits | undefined;
  #departed = false;

  constructor(now: WorkflowLimits) {
    this.#now = now;
  }

  /** What follows is a step of a record that had these limits; none: those of now hold. */
  repeatUnder(limits: WorkflowLimits | undefined): void {
    this.#then = this.#departed ? undefined : limits;
  }

  /** Whether the limits of now let through or refused something that the record decided otherwise: from there on it does not hold. */
  get departed(): boolean {
    return this.#departed;
  }

  get current(): WorkflowLimits {
    return this.#then ?? this.#now;
  }

  get now(): WorkflowLimits {
    return this.#now;
  }

  /** @returns why something is refused, if so. The limits of then decide as long as those of now decide the same. */
  decide(rule: (limits: WorkflowLimits) => string | undefined): string | undefined {
    const now = rule(this.#now);
    if (this.#then && rule(this.#then) !== now) {
      this.#then = undefined;
      this.#departed = true;
    }
    return now;
  }
}

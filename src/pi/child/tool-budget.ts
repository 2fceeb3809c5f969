/** How many tool calls a child may make before it is told to finish, and before its looking around is refused. */
import { ANSWER_TOOL, type ToolBudget } from '../../protocol/index.ts';

/** Refused after `hard` unless the budget names others: reading on is what a child that does not finish does. */
export const BLOCKED_BY_DEFAULT: readonly string[] = ['read', 'grep', 'find', 'ls'];

export type ToolCallVerdict = { refused: false; nudge: string | null } | { refused: true; reason: string };

/** Counts the calls of one child, refused ones too: each call is numbered from 1. */
export class ToolBudgetCount {
  readonly #budget: ToolBudget;
  #calls = 0;
  #nudged = false;

  constructor(budget: ToolBudget) {
    this.#budget = budget;
  }

  /** Judges the next call. `nudge`: words for the model, given once, with the call that reaches `soft`. */
  next(tool: string): ToolCallVerdict {
    this.#calls += 1;
    const { soft, hard } = this.#budget;
    if (this.#calls > hard && this.#blocks(tool)) {
      return {
        refused: true,
        reason: `The tool budget of this task is used up (${hard} calls): ${tool} is refused from now on. Finish with what you have and give your final answer.`,
      };
    }
    if (soft === undefined || this.#nudged || this.#calls < soft) return { refused: false, nudge: null };
    this.#nudged = true;
    return {
      refused: false,
      nudge: `${this.#calls} of ${hard} tool calls of this task are used. Finish what you are doing and give your final answer.`,
    };
  }

  #blocks(tool: string): boolean {
    // A child that is out of calls could never end well.
    if (tool === ANSWER_TOOL) return false;
    const block = this.#budget.block ?? BLOCKED_BY_DEFAULT;
    return block === '*' || block.includes(tool);
  }
}

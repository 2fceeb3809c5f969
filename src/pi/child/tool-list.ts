import { ANSWER_TOOL } from '../../protocol/index.ts';

/** The tools an agent's definition allows, and none beside them but the one it answers with. */
export class ToolList {
  readonly #tools: readonly string[];

  constructor(tools: readonly string[]) {
    this.#tools = tools;
  }

  /** Allowed tools that do not exist among those there are. */
  missing(there: readonly string[]): string[] {
    return this.#tools.filter((tool) => !there.includes(tool));
  }

  /** Why a call is refused, for the model. */
  refuse(tool: string): string | undefined {
    if (tool === ANSWER_TOOL || this.#tools.includes(tool)) return undefined;
    const allowed = this.#tools.length === 0 ? 'it may use no tools' : `its tools are ${this.#tools.join(', ')}`;
    return `This agent may not use ${tool}: ${allowed}.`;
  }
}

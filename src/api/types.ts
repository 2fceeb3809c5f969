/**
 * What `dist/api.js` offers. Shipped as `dist/api.d.ts`, with `workflow-execution-types.ts` and
 * `agent-types.ts` behind it, so none of them imports anything.
 */

/** A place in the text. Lines and columns count from 1, columns in UTF-16 units; the end is exclusive. */
export interface WorkflowTextRange {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** Edits that belong together; none overlaps another. Places are those of the text that was checked. */
export interface WorkflowFix {
  /** Stable name of the kind of fix. */
  kind: string;
  title: string;
  /** Whether it can be applied without looking, together with the safe fixes of other findings. */
  safe: boolean;
  edits: (WorkflowTextRange & { text: string })[];
}

export interface WorkflowFinding extends WorkflowTextRange {
  /** Stable; the table of codes is in `docs/script-api.md`. */
  code: string;
  /** `error`: must fail when it runs. Everything else is a warning. */
  severity: 'error' | 'warning';
  message: string;
  /** Further places that explain it, such as the first use of a key. */
  related?: (WorkflowTextRange & { message: string })[];
  fix?: WorkflowFix;
}

export interface WorkflowValidation {
  /** Whether there are no errors. Warnings do not count. */
  ok: boolean;
  /** In the order of the text. */
  errors: WorkflowFinding[];
  warnings: WorkflowFinding[];
}

export interface ValidateWorkflowOptions {
  /** How many children the run may launch: a whole number from 1. Checked against those that are launched in any case. */
  maxSubagentSpawnsPerRun?: number;
}

/**
 * Checks a workflow script without running it, starting nothing and writing nothing. Resolves for every text; rejects with a
 * `TypeError` for arguments that are no script or no such options.
 */
export declare function validateWorkflow(
  script: string,
  options?: ValidateWorkflowOptions,
): Promise<WorkflowValidation>;

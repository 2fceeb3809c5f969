/**
 * The catalogue of errors that people and programs see. `docs/errors.md` documents every code; a test holds the two
 * together. An error has a stable code, a message for people and a hint naming the next step.
 */

import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

// zod/mini comes without texts: every refusal would read "Invalid input", whatever rule was broken.
z.config(en());

export const ERROR_CODES = [
  'agent_unknown',
  'agent_invalid',
  'child_exited',
  'child_handshake_timeout',
  'child_mid_tool',
  'child_output_cut',
  'child_empty_output',
  'child_model_error',
  'child_spawn_failed',
  'config_invalid',
  'cwd_missing',
  'cwd_not_directory',
  'internal',
  'journal_newer',
  'launch_invalid',
  'lock_held',
  'lock_unavailable',
  'model_ambiguous',
  'model_none',
  'model_unknown',
  'node_not_found',
  'pi_not_found',
  'pi_path_invalid',
  'pi_too_old',
  'pi_failed',
  'protocol_output_limit',
  'project_unreadable',
  'run_ambiguous',
  'run_not_found',
  'run_not_running',
  'run_unreadable',
  'runner_died',
  'runner_refused',
  'runner_start_timeout',
  'runner_unreachable',
  'socket_folder_unsafe',
  'socket_path_too_long',
  'start_not_confirmed',
  'task_empty',
  'task_too_large',
  'steer_empty',
  'steer_too_large',
  'resume_refused',
  'session_in_use',
  'output_in_use',
  'output_unusable',
  'timed_out',
  'tool_timed_out',
  'interrupted',
  'recovery_failed',
  'result_unsaved',
  'question_gone',
  'answer_invalid',
  'run_lost',
  'cwd_gone',
  'disk_full',
  'store_unwritable',
  'untrusted_workspace',
  'transcript_unreadable',
  'file_not_found',
  'link_refused',
  'message_invalid',
] as const;

export const errorCode = z.enum(ERROR_CODES);
export type ErrorCode = z.infer<typeof errorCode>;

/** An error as data: what is stored in a journal, sent over a socket and printed by `--json`. */
export const errorValue = z.object({
  code: errorCode,
  message: z.string(),
  hint: z.optional(z.string()),
});
export type ErrorValue = z.infer<typeof errorValue>;

export class LanesError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LanesError';
    this.code = code;
    this.hint = hint;
  }

  toValue(): ErrorValue {
    return { code: this.code, message: this.message, ...(this.hint === undefined ? {} : { hint: this.hint }) };
  }

  static fromValue(value: ErrorValue): LanesError {
    return new LanesError(value.code, value.message, value.hint);
  }
}

/** Anything thrown, as an error value. Errors that are not ours become `internal` with their message. */
export function toErrorValue(error: unknown): ErrorValue {
  if (error instanceof LanesError) return error.toValue();
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

const FAULTS_SHOWN = 3;

/** What a schema refused, in one line: the first fields with the rule each broke. */
export function describeFaults(error: z.core.$ZodError): string {
  const faults = error.issues.map((issue) => `${issue.path.join('.') || 'the value'}: ${issue.message}`);
  const more = faults.length - FAULTS_SHOWN;
  return `${faults.slice(0, FAULTS_SHOWN).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/**
 * The catalogue of errors that people and programs see. `docs/errors.md` documents every code, `error-texts/` has the
 * texts; a test holds the three together. An error has a stable code, a message for people and a hint naming the next step.
 */

import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { ERROR_TEXTS, type ErrorText, type ErrorTextId } from './error-texts/index.ts';
import { wordsOf } from './words-of.ts';

// zod/mini comes without texts: every refusal would read "Invalid input", whatever rule was broken.
z.config(en());

export const ERROR_CODES = [
  'agent_unknown',
  'agent_ambiguous',
  'agent_invalid',
  'agent_disabled',
  'agent_kept',
  'agent_unsupported',
  'agent_restricted',
  'agent_untrusted',
  'agent_changed',
  'agent_config_invalid',
  'agent_exists',
  'agent_not_bundled',
  'agent_not_editable',
  'agent_nothing_to_undo',
  'agent_scope_needed',
  'child_exited',
  'child_handshake_timeout',
  'child_mid_tool',
  'child_output_cut',
  'child_empty_output',
  'child_model_error',
  'child_spawn_failed',
  'child_unknown',
  'child_unsupported',
  'config_invalid',
  'config_changed',
  'config_unwritable',
  'cwd_missing',
  'cwd_not_directory',
  'internal',
  'journal_newer',
  'launch_invalid',
  'lock_held',
  'lock_unavailable',
  'model_ambiguous',
  'model_excluded',
  'model_none',
  'model_out_of_scope',
  'model_skipped',
  'model_unknown',
  'node_not_found',
  'npm_failed',
  'npm_not_found',
  'pi_install_failed',
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
  'script_invalid',
  'script_unreadable',
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
  'thinking_too_high',
  'timed_out',
  'tool_timed_out',
  'interrupted',
  'recovery_failed',
  'result_unsaved',
  'question_gone',
  'answer_invalid',
  'processes_unproven',
  'run_lost',
  'cwd_gone',
  'disk_full',
  'store_unwritable',
  'structured_output_missing',
  'skills_missing',
  'tools_left_out',
  'tools_missing',
  'untrusted_workspace',
  'transcript_unreadable',
  'extensions_denied',
  'file_not_found',
  'link_refused',
  'message_invalid',
  'workflow_failed',
  'host_failed',
  'receipt_unusable',
  'git_unusable',
  'git_failed',
  'worktree_refused',
  'worktree_failed',
  'worktree_left',
  'worktree_hook_failed',
  'worktree_lost',
  'worktree_preserved',
  'worktree_setup_failed',
  'worktree_incomplete',
  'worktree_ledger_unreadable',
  'worktree_ledger_missing',
  'worktree_in_removal',
  'handoff_invalid',
  'lane_refused',
  'lane_evidence_unreadable',
  'checkout_in_use',
  'cleanup_refused',
  'restore_refused',
  'restore_incomplete',
  'apply_refused',
] as const;

export const errorCode = z.enum(ERROR_CODES);
export type ErrorCode = z.infer<typeof errorCode>;

/** What the places in a text are filled with. */
export const errorParams = z.record(z.string(), z.union([z.string(), z.number()]));
export type ErrorParams = z.infer<typeof errorParams>;

/** An error as data: what is stored in a journal, sent over a socket and printed by `--json`. */
export const errorValue = z.object({
  code: errorCode,
  /** In English; may go on, after the text, with lines of what was printed. */
  message: z.string(),
  hint: z.optional(z.string()),
  /** Which text of the catalogue message and hint are, and what fills its places: for clients of other languages. */
  text: z.optional(z.string()),
  params: z.optional(errorParams),
});
export type ErrorValue = z.infer<typeof errorValue>;

/** The names in a text's braces. What has a space in it is no name: a text may speak of `{key, agent}`. */
export type PlacesIn<T> = T extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${string} ${string}` ? never : Name) | PlacesIn<Rest>
  : never;
type TextOf<T extends ErrorTextId> = (typeof ERROR_TEXTS)[T];
type Places<T extends ErrorTextId> = PlacesIn<TextOf<T>[keyof TextOf<T>]>;
/** The parameters of a text; nothing for one without places. */
type Filling<T extends ErrorTextId> = [Places<T>] extends [never]
  ? [params?: undefined, options?: ErrorOptions]
  : [params: Record<Places<T>, string | number>, options?: ErrorOptions];

/** An error of the catalogue, as data. */
export function describeError<T extends ErrorTextId>(text: T, ...[params]: Filling<T>): ErrorValue {
  const { message, hint }: ErrorText = ERROR_TEXTS[text];
  const given: ErrorParams = params ?? {};
  return {
    code: codeOf(text),
    message: fillText(message, given),
    ...(hint === undefined ? {} : { hint: fillText(hint, given) }),
    text,
    ...(params === undefined ? {} : { params }),
  };
}

/** An error of the catalogue, to be thrown. */
export function lanesError<T extends ErrorTextId>(text: T, ...filling: Filling<T>): LanesError {
  return new LanesError(describeError(text, ...filling), filling[1]);
}

function codeOf(text: ErrorTextId): ErrorCode {
  return errorCode.parse(text.split(':')[0]);
}

export function fillText(text: string, params: ErrorParams): string {
  return text.replace(/\{([^}]+)\}/g, (place, name) => String(params[name] ?? place));
}

/** The error with more behind its message: what was printed, for whoever wants all of it. Parameters stay as they are. */
export function withDetail(error: ErrorValue, detail: string): ErrorValue {
  return detail === '' ? error : { ...error, message: `${error.message}${detail}` };
}

/** The text that an error was made from; `undefined` for one that is not of the catalogue, or of a newer one. */
export function textOf(value: ErrorValue): ErrorText | undefined {
  return Object.entries<ErrorText>(ERROR_TEXTS).find(([id]) => id === value.text)?.[1];
}

export class LanesError extends Error {
  readonly #value: ErrorValue;

  constructor(value: ErrorValue, options?: ErrorOptions) {
    super(value.message, options);
    this.name = 'LanesError';
    this.#value = value;
  }

  get code(): ErrorCode {
    return this.#value.code;
  }

  get hint(): string | undefined {
    return this.#value.hint;
  }

  toValue(): ErrorValue {
    return { ...this.#value };
  }
}

/** Anything thrown, as an error value. Errors that are not ours become `internal` with their message. */
export function toErrorValue(error: unknown): ErrorValue {
  if (error instanceof LanesError) return error.toValue();
  return { code: 'internal', message: wordsOf(error) };
}

export const FAULTS_SHOWN = 3;

/** What a schema refused, in one line: the first fields with the rule each broke. */
export function describeFaults(error: z.core.$ZodError): string {
  const faults = error.issues.map((issue) => `${issue.path.join('.') || 'the value'}: ${issue.message}`);
  const more = faults.length - FAULTS_SHOWN;
  return `${faults.slice(0, FAULTS_SHOWN).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

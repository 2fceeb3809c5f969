/** What the static check of a workflow script says. `docs/script-api.md` documents every code; a test holds them together. */
import * as z from 'zod/mini';
import { isWords, type Words } from './words.ts';
import { WORKFLOW_RULES } from './workflow.ts';

export const FINDING_CODES = [
  'script_empty',
  'script_too_large',
  'script_too_deep',
  'script_too_slow',
  'syntax',
  'nested_async',
  ...WORKFLOW_RULES,
  'argument_missing',
  'not_json',
  'batch_not_array',
  'batch_keyed_read',
  'batch_unknown_read',
  'launch_unobserved',
  'launch_maybe_unobserved',
  'launch_output_unawaited',
  'runs_member_unknown',
  'runs_member_missing',
  'runs_shadowed',
  'global_missing',
  'launch_field_unknown',
  'duplicate_key',
  'duplicate_key_maybe',
  'output_shared',
  'output_shared_maybe',
  'steer_key_unknown',
  'spawn_budget',
  'spawn_budget_default',
  'spawn_count_dynamic',
  'unreachable_code',
  'agent_not_found',
  'findings_left_out',
] as const;
export const findingCode = z.enum(FINDING_CODES);
export type FindingCode = z.infer<typeof findingCode>;

/** Findings that do not make a script wrong. Everything else must fail when it runs. */
const WARNINGS: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'batch_unknown_read',
  'launch_maybe_unobserved',
  'launch_output_unawaited',
  'runs_member_missing',
  'runs_shadowed',
  'global_missing',
  'launch_field_unknown',
  'duplicate_key_maybe',
  'output_shared_maybe',
  'spawn_budget_default',
  'spawn_count_dynamic',
  'unreachable_code',
  'agent_not_found',
  'findings_left_out',
]);

export function severityOf(code: FindingCode): 'error' | 'warning' {
  return WARNINGS.has(code) ? 'warning' : 'error';
}

/** Lines and columns count from 1, in UTF-16 units; the end is exclusive. Lines end with LF, CRLF or CR. */
const range = { line: z.number(), column: z.number(), endLine: z.number(), endColumn: z.number() };
export const textRange = z.object(range);
export type TextRange = z.infer<typeof textRange>;

export const FIX_KINDS = [
  'plain_helper',
  'promise_chain',
  'destructure_batch',
  'index_batch',
  'add_await',
  'add_timeout',
  'remove_field',
  'rename_field',
  'rename_member',
  'rename_key',
  'rename_agent',
] as const;

export const findingFix = z.object({
  kind: z.enum(FIX_KINDS),
  title: z.string(),
  /** Whether it can be applied without looking, together with others. */
  safe: z.boolean(),
  edits: z.array(z.object({ ...range, text: z.string() })),
});
export type FindingFix = z.infer<typeof findingFix>;

/** A finding as programs are given it. */
export const plainFinding = z.object({
  code: findingCode,
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  ...range,
  related: z.optional(z.array(z.object({ ...range, message: z.string() }))),
  fix: z.optional(findingFix),
});
export type PlainFinding = z.infer<typeof plainFinding>;

const words = z.custom<Words>(isWords);

export const finding = z.extend(plainFinding, {
  /** The texts of the finding, of what is related and of the fix, for the editor, which shows them in its language. */
  words: z.object({ message: words, related: z.optional(z.array(words)), title: z.optional(words) }),
});
export type Finding = z.infer<typeof finding>;

/** What stands in a script, for outline, completion and references. */
export const scriptKey = z.object({
  key: z.string(),
  /** What names it: a call of `runs`, a lane, one of its stages, or the `lane` that describes a launch. */
  api: z.enum(['run', 'all', 'host', 'steer', 'status', 'lane', 'stage', 'metadata']),
  /** Whether it is launched here, and not only mentioned. */
  launches: z.boolean(),
  agent: z.optional(z.string()),
  label: z.optional(z.string()),
  range: textRange,
  /** The call or item it belongs to. */
  whole: textRange,
});
export type ScriptKey = z.infer<typeof scriptKey>;

export const agentMention = z.object({ name: z.string(), range: textRange });
export type AgentMention = z.infer<typeof agentMention>;

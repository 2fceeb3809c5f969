/** What a person attests about a run on the command line. The rules are those of the vocabulary; here they get the names of options. */
import type * as z from 'zod/mini';
import {
  cutText,
  type LaneMerge,
  type LaneSupersession,
  type LanesError,
  laneMerge,
  laneSupersession,
  lanesError,
} from '../protocol/index.ts';

/** The options as they were given, by name without the dashes. */
export type AttestingOptions = Partial<Record<keyof typeof RULES, string | undefined>>;

/** What is said about a value that breaks the rule of its option, with what may stand there. */
const RULES = {
  pr: { text: 'launch_invalid:lanes-pr' },
  'reviewed-head': { text: 'launch_invalid:lanes-commit' },
  'merge-commit': { text: 'launch_invalid:lanes-commit' },
  'tree-equivalent': { text: 'launch_invalid:lanes-choice', allowed: 'true, false, unknown' },
  checks: { text: 'launch_invalid:lanes-choice', allowed: 'recorded, unknown' },
  'superseded-by': { text: 'launch_invalid:lanes-words' },
  by: { text: 'launch_invalid:lanes-words' },
  at: { text: 'launch_invalid:lanes-time' },
} as const;

const SHOWN_CHARS = 80;

/** @param now what stands for a time that is not given. Throws `launch_invalid` with the options that are missing, or the wrong one. */
export function attestedMerge(options: AttestingOptions, now: Date): LaneMerge {
  require('record-merge', options, ['pr', 'reviewed-head', 'merge-commit', 'by']);
  const input = {
    prNumber: /^\d+$/.test(options.pr ?? '') ? Number(options.pr) : undefined,
    reviewedHead: options['reviewed-head'],
    mergeCommit: options['merge-commit'],
    treeEquivalent: truthOf(options['tree-equivalent'] ?? 'unknown'),
    postMergeChecks: options.checks ?? 'unknown',
    attestedBy: options.by,
    attestedAt: options.at ?? now.toISOString(),
  };
  return accept(laneMerge.safeParse(input), options, {
    prNumber: 'pr',
    reviewedHead: 'reviewed-head',
    mergeCommit: 'merge-commit',
    treeEquivalent: 'tree-equivalent',
    postMergeChecks: 'checks',
    attestedBy: 'by',
    attestedAt: 'at',
  });
}

/** As `attestedMerge`. */
export function attestedSupersession(options: AttestingOptions, now: Date): LaneSupersession {
  require('record-supersession', options, ['superseded-by', 'by']);
  const input = {
    supersededBy: options['superseded-by'],
    attestedBy: options.by,
    attestedAt: options.at ?? now.toISOString(),
  };
  return accept(laneSupersession.safeParse(input), options, {
    supersededBy: 'superseded-by',
    attestedBy: 'by',
    attestedAt: 'at',
  });
}

function require(action: string, options: AttestingOptions, names: readonly (keyof AttestingOptions)[]): void {
  const missing = names.filter((name) => options[name] === undefined).map((name) => `--${name}`);
  if (missing.length > 0) throw lanesError('launch_invalid:lanes-missing', { action, options: missing.join(', ') });
}

/** What is neither is refused by the rule. */
function truthOf(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text;
}

function accept<T extends object>(
  parsed: z.core.util.SafeParseResult<T>,
  options: AttestingOptions,
  optionOf: Record<keyof T, keyof typeof RULES>,
): T {
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path[0];
  const option = Object.entries(optionOf).find(([name]) => name === field)?.[1];
  // Every field is made from an option.
  throw isOption(option) ? broken(option, options[option] ?? '') : parsed.error;
}

function isOption(name: unknown): name is keyof typeof RULES {
  return typeof name === 'string' && Object.hasOwn(RULES, name);
}

function broken(name: keyof typeof RULES, value: string): LanesError {
  const rule = RULES[name];
  const said = { option: `--${name}`, value: cutText(value, SHOWN_CHARS) };
  return 'allowed' in rule ? lanesError(rule.text, { ...said, allowed: rule.allowed }) : lanesError(rule.text, said);
}

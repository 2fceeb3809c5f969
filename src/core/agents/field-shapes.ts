/** Fields that consist of several values. */
import * as z from 'zod/mini';

const text = z.string().check(z.refine((value) => value.trim() !== '', 'must not be blank'));
const texts = z.array(text);

export const EVIDENCE = [
  'changed-files',
  'tests-added',
  'commands-run',
  'validation-output',
  'residual-risks',
  'no-staged-files',
  'diff-summary',
  'review-findings',
  'manual-notes',
] as const;

const criterion = z.union([
  text,
  z.strictObject({
    id: text,
    must: text,
    evidence: z.optional(z.array(z.enum(EVIDENCE))),
    severity: z.optional(z.enum(['required', 'recommended'])),
  }),
]);

/** `auto`, `attested` or `checked`; false for none; or all of it. */
export const acceptance = z.union(
  [
    z.literal(false),
    z.enum(['auto', 'attested', 'checked', 'false']),
    z
      .strictObject({
        level: z.optional(z.enum(['none', 'auto', 'attested', 'checked', 'verified'])),
        criteria: z.optional(z.array(criterion)),
        evidence: z.optional(z.array(z.enum(EVIDENCE))),
        verify: z.optional(z.array(z.looseObject({ id: text, command: text }))),
        review: z.optional(z.union([z.boolean(), z.record(z.string(), z.unknown())])),
        stopRules: z.optional(texts),
        reason: z.optional(text),
        report: z.optional(z.union([z.enum(['on', 'off']), z.boolean()])),
      })
      .check(
        z.refine(({ level, reason }) => level !== 'none' || reason !== undefined, 'level "none" needs a reason'),
        z.refine(
          ({ level, verify }) => level !== 'verified' || (verify?.length ?? 0) > 0,
          'level "verified" needs verify',
        ),
      ),
  ],
  'must be auto, attested, checked, false, or a map of level, criteria, evidence, verify, review, stopRules, reason and report',
);

/** Tools that have rules of their own. */
export const WITHOUT_PERMISSION: readonly string[] = [
  'bash',
  'subagent',
  'bg_wait',
  'subagent_wait',
  'subagent_supervisor',
  'contact_supervisor',
  'structured_output',
  'watchdog_warn',
  'watchdog_permission_decision',
];

export const permissions = z.record(text, z.enum(['allow', 'ask', 'deny']));

/** Below the folder of memories: relative, and never out of it. */
const memoryPath = text.check(
  z.refine((path) => !/[\0:]/.test(path), 'must contain neither ":" nor NUL'),
  z.refine((path) => !/^[\\/]/.test(path), 'must be a relative path'),
  z.refine(
    (path) => !path.split(/[\\/]+/).some((part) => part === '.' || part === '..'),
    'must not contain "." or ".."',
  ),
);

export const memory = z.strictObject({ scope: z.enum(['project', 'user']), path: memoryPath });

export const ADAPTERS = [
  'codex-exec',
  'codex-exec-writer',
  'claude-code',
  'claude-code-writer',
  'cursor-agent',
  'cursor-agent-writer',
] as const;

export const runner = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('pi') }),
  z
    .strictObject({
      type: z.literal('external-cli'),
      command: z.optional(text),
      args: z.optional(z.array(z.string())),
      adapter: z.optional(z.enum(ADAPTERS)),
      promptDelivery: z.optional(z.literal('stdin')),
      capabilities: z.optional(z.record(z.string(), z.unknown())),
    })
    .check(
      z.refine(
        ({ command, adapter }) => command !== undefined || adapter !== undefined,
        'needs a command or an adapter',
      ),
    ),
  z.strictObject({ type: z.literal('external-job'), provider: text, options: z.optional(z.unknown()) }),
]);

/** What the text of a script tells before it runs: the inputs it reads, the children and commands it asks for. */
import * as z from 'zod/mini';
import { textRange } from './workflow-findings.ts';

/** A field of `args` that a script reads. */
export const scriptInput = z.object({
  name: z.string(),
  /** JSON text of what the script takes when the field is not given; absent: nothing that can be seen. */
  fallback: z.optional(z.string()),
  /** Whether the script does without it. */
  isOptional: z.boolean(),
  /** Whether it is used as a list. */
  isList: z.boolean(),
  range: textRange,
});
export type ScriptInput = z.infer<typeof scriptInput>;

export const scriptInputs = z.object({
  /** In the order in which the script reads them, each once. */
  named: z.array(scriptInput),
  /** `args` is also used in ways that do not tell which fields it needs. */
  isWhole: z.boolean(),
});
export type ScriptInputs = z.infer<typeof scriptInputs>;

/** Whom a launch asks for. What is absent is not named, or told only while the script runs. */
const asked = {
  agent: z.optional(z.string()),
  model: z.optional(z.string()),
  /** Whether the script makes up agent or model while it runs. */
  isOpen: z.boolean(),
  range: textRange,
};

export const foreseenChild = z.object({
  ...asked,
  key: z.string(),
  /** The lane it is a stage of. */
  lane: z.optional(z.string()),
  /** It goes on with the session of another child. */
  resumes: z.boolean(),
  /** Whether the script comes to it whatever happens. */
  isSure: z.boolean(),
});
export type ForeseenChild = z.infer<typeof foreseenChild>;

/** Children whose number the script decides while it runs. `key`: the expression that names them, as it is written. */
export const foreseenChildren = z.object({ ...asked, key: z.string() });
export type ForeseenChildren = z.infer<typeof foreseenChildren>;

export const foreseenHost = z.object({
  /** Absent: made up while it runs, so there may be several. */
  key: z.optional(z.string()),
  /** The command, or the expression that makes it. */
  command: z.string(),
  isLiteral: z.boolean(),
  range: textRange,
});
export type ForeseenHost = z.infer<typeof foreseenHost>;

export const scriptOutlook = z.object({
  inputs: scriptInputs,
  children: z.array(foreseenChild),
  more: z.array(foreseenChildren),
  /** Whether there may be further children than those named here. */
  hasMore: z.boolean(),
  hosts: z.array(foreseenHost),
  /** Whether there may be further commands than those named here. */
  hasMoreHosts: z.boolean(),
});
export type ScriptOutlook = z.infer<typeof scriptOutlook>;

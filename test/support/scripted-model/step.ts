import { z } from 'zod';
import type { Conversation } from './conversation.ts';
import { ScriptError } from './script-error.ts';

const usage = z.strictObject({
  /** Prompt tokens reported for this request. */
  input: z.int().min(0),
  /** Completion tokens reported for this request. */
  output: z.int().min(0),
});

const call = z.strictObject({ tool: z.string().min(1), args: z.record(z.string(), z.unknown()).default({}) });

const fail = z.strictObject({
  status: z.int().min(400).max(599),
  /** Text of the error object; ignored when `body` is given. */
  message: z.string().optional(),
  /** `type` of the error object (`server_error`, `overloaded_error`, …). */
  type: z.string().optional(),
  /** The whole response body, sent as it is, instead of an OpenAI error object. */
  body: z.string().optional(),
  /** Seconds in a `Retry-After` header. */
  retryAfter: z.number().min(0).optional(),
  /** How many times the same request fails before it is answered. Absent: every time. */
  times: z.int().min(1).optional(),
});

/**
 * One answer of the scripted model, as data. Everything given is sent in this order: thinking, text, tool calls, finish.
 * The same shape is what `SCRIPT:steps` takes as JSON.
 */
export const stepSchema = z.strictObject({
  text: z.string().optional(),
  /** Appends this many numbered words to the text. */
  tokens: z.int().min(0).max(100_000).optional(),
  /** Fills the text up with ASCII to exactly this many UTF-8 bytes (text longer than that is left whole). */
  bytes: z.int().min(0).max(256_000_000).optional(),
  /** Sent as `reasoning_content`, before the text. */
  thinking: z.string().optional(),
  /** Tool calls; two or more are made in parallel. */
  calls: z.array(call).optional(),
  /** Milliseconds between two words of thinking or text. Absent: as fast as the connection takes it. */
  tokenMs: z.number().min(0).max(60_000).optional(),
  /** Milliseconds before the first byte of the answer. */
  waitMs: z.number().min(0).max(3_600_000).optional(),
  finish: z.enum(['stop', 'length', 'tool_calls']).optional(),
  usage: usage.optional(),
  /** Answers with an HTTP error instead. */
  fail: fail.optional(),
  /** Sends the content, then drops the connection without a finish chunk. `times` as in `fail`. */
  cut: z.strictObject({ times: z.int().min(1).optional() }).optional(),
  /** Never answers; the request ends when the client goes away. */
  hang: z.boolean().optional(),
});

export type Step = z.input<typeof stepSchema>;
export type ReadyStep = z.output<typeof stepSchema>;

/** A step, or a function that computes it from what the conversation holds by now. */
export type ScriptStep = Step | ((conversation: Conversation) => Step);

export interface Script {
  /** One line for people: what the script does and which arguments it takes. */
  readonly summary: string;
  /**
   * @param args what stood behind `SCRIPT:<name>`: an object, a JSON array, or `{}`
   * @throws ScriptError when the arguments do not fit; the client receives it as HTTP 400
   */
  plan(args: unknown): readonly ScriptStep[];
}

/** Makes a script whose arguments are checked by `args` before `steps` sees them. */
export function script<Args extends z.ZodType>(spec: {
  summary: string;
  args: Args;
  steps: (args: z.output<Args>) => readonly ScriptStep[];
}): Script {
  return {
    summary: spec.summary,
    plan(args) {
      const parsed = spec.args.safeParse(args);
      if (!parsed.success) throw new ScriptError(`arguments: ${z.prettifyError(parsed.error)}`);
      return spec.steps(parsed.data);
    },
  };
}

/**
 * The step to answer with, computed and checked.
 * @throws ScriptError when a computed or composed step is not a valid step
 */
export function readyStep(step: ScriptStep, conversation: Conversation): ReadyStep {
  const parsed = stepSchema.safeParse(typeof step === 'function' ? step(conversation) : step);
  if (!parsed.success) throw new ScriptError(`step ${conversation.step}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

import { z } from 'zod';
import { type Script, script } from './step.ts';

const times = z.coerce.number().int().min(1).optional();

/** Scripts in which the provider or the connection misbehaves. */
export const troubleScripts: Readonly<Record<string, Script>> = {
  'fail-500': script({
    summary: 'fail-500 [times=n]: HTTP 500 every time, or n times and then a text',
    args: z.strictObject({ times }),
    steps: (args) => [{ fail: { status: 500, type: 'server_error', ...args }, text: 'recovered after 500' }],
  }),
  'fail-400': script({
    summary: 'fail-400: HTTP 400, an error that a retry does not mend',
    args: z.strictObject({ times }),
    steps: (args) => [{ fail: { status: 400, type: 'invalid_request_error', ...args }, text: 'recovered after 400' }],
  }),
  'rate-limit': script({
    summary: 'rate-limit [times=1] [retryAfter=1]: HTTP 429 with Retry-After (seconds), then a text',
    args: z.strictObject({ times: times.default(1), retryAfter: z.coerce.number().min(0).default(1) }),
    steps: (args) => [
      {
        fail: { status: 429, type: 'rate_limit_error', message: 'Rate limit reached', ...args },
        text: 'recovered after 429',
      },
    ],
  }),
  flaky: script({
    summary: 'flaky [times=1]: HTTP 529 (overloaded) n times, then a text',
    args: z.strictObject({ times: times.default(1) }),
    steps: (args) => [
      { fail: { status: 529, type: 'overloaded_error', message: 'Overloaded', ...args }, text: 'recovered after 529' },
    ],
  }),
  cut: script({
    summary: 'cut [times=n]: sends part of a text and drops the connection, every time or n times',
    args: z.strictObject({ times }),
    steps: (args) => [{ text: 'this answer is cut ', tokens: 20, cut: args }],
  }),
  hang: script({
    summary: 'hang: never answers',
    args: z.strictObject({}),
    steps: () => [{ hang: true }],
  }),
  empty: script({
    summary: 'empty: an answer without any text',
    args: z.strictObject({}),
    steps: () => [{ text: '' }],
  }),
  length: script({
    summary: 'length: a text that ends at the output limit (finish_reason "length")',
    args: z.strictObject({}),
    steps: () => [{ text: 'This sentence is not fin', finish: 'length', usage: { input: 100, output: 4_096 } }],
  }),
};

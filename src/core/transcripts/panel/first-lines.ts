/** What the first lines of a transcript tell: where it was held, and which message is the task. */
import * as z from 'zod/mini';
import { decoded } from './glance.ts';
import type { PlacedLine } from './parts.ts';

const header = z.object({ type: z.literal('session'), cwd: z.string() });

/** Null: the line is no header of a session. */
export function headerCwd({ line }: PlacedLine): string | null {
  const parsed = header.safeParse(line && decoded(line));
  return parsed.success ? parsed.data.cwd : null;
}

const HEAD_CHARS = 512;
const MESSAGE = /^\{"type":"message",/;
const USER = /"role":"user"/;

const message = z.object({
  type: z.literal('message'),
  role: z.optional(z.string()),
  message: z.optional(z.object({ role: z.optional(z.string()) })),
});

/** Of a mirror or a session: whether a person speaks in it. */
export function isUserLine({ line }: PlacedLine): boolean {
  if (!line) return false;
  const head = line.head.toString('latin1', 0, HEAD_CHARS);
  // The usual order of fields tells most lines apart without decoding them.
  if (MESSAGE.test(head) && !USER.test(head) && /"role":"/.test(head)) return false;
  const parsed = message.safeParse(decoded(line));
  return parsed.success && (parsed.data.role ?? parsed.data.message?.role) === 'user';
}

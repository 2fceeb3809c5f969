/**
 * Pi's session files: one header line, then entries that form a tree by `parentId`; the last entry is the leaf. Read without
 * trusting them: unknown entries are skipped, a torn last line is tolerated, a missing header is named.
 */
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { extname } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf, readRegular } from '../files/index.ts';

const header = z.object({ type: z.literal('session'), id: z.string(), cwd: z.string() });

const text = z.object({ type: z.literal('text'), text: z.string() });
const entry = z.object({
  type: z.string(),
  id: z.string(),
  parentId: z.nullish(z.string()),
  message: z.optional(
    z.object({
      role: z.string(),
      content: z.optional(z.union([z.string(), z.array(z.union([text, z.object({ type: z.string() })]))])),
      stopReason: z.optional(z.string()),
    }),
  ),
});
type Entry = z.infer<typeof entry>;

export type SessionFile =
  | { state: 'ok'; id: string; cwd: string; branch: Entry[] }
  | { state: 'missing' | 'damaged' | 'unsupported'; reason: string };

/** Reads a session file's header and its active branch, oldest entry first. Never throws. */
export async function readSessionFile(path: string): Promise<SessionFile> {
  if (extname(path) !== '.jsonl') return { state: 'unsupported', reason: `${path} is not a .jsonl file` };
  try {
    if (!(await lstat(path)).isFile()) return { state: 'unsupported', reason: `${path} is not a regular file` };
    return parseSession(path, await readRegular(path));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { state: 'missing', reason: `${path} does not exist` };
    return { state: 'damaged', reason: `${path} cannot be read: ${error instanceof Error ? error.message : error}` };
  }
}

export function parseSession(path: string, content: string): SessionFile {
  const lines = content.split('\n').filter((line) => line.trim() !== '');
  const values = lines.map(parseJson);
  const head = header.safeParse(values[0]);
  // Pi writes a deleted session anew without its header; such a file cannot be opened again.
  if (!head.success) return { state: 'damaged', reason: `${path} has no session header in its first line` };
  const entries = new Map<string, Entry>();
  let leaf: Entry | undefined;
  for (const value of values.slice(1)) {
    const parsed = entry.safeParse(value);
    if (!parsed.success) continue;
    entries.set(parsed.data.id, parsed.data);
    leaf = parsed.data;
  }
  const branch: Entry[] = [];
  for (let at = leaf; at && branch.length <= entries.size; at = at.parentId ? entries.get(at.parentId) : undefined)
    branch.unshift(at);
  return { state: 'ok', id: head.data.id, cwd: head.data.cwd, branch };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export type SessionVerdict =
  /** A final assistant message follows our prompt: that is the result. */
  | { kind: 'answered'; text: string; stopReason: string }
  /** The model began and did not finish. */
  | { kind: 'unfinished' }
  /** Our prompt is there without any answer, or is not there at all. */
  | { kind: 'not-begun' };

const FINAL = new Set(['stop', 'length']);

/** A prompt as it was sent. */
export interface SentPrompt {
  /** Of its UTF-8 text, lower-case hex. */
  sha256: string;
  /** Id of the entry the session ended with before it; null: it was a new session; absent: not known. */
  after?: string | null | undefined;
}

/** What a session says about a prompt after its process has died. */
export function judgeSession(session: Extract<SessionFile, { state: 'ok' }>, sent: SentPrompt): SessionVerdict {
  const at = sent.after ? session.branch.findIndex(({ id }) => id === sent.after) : -1;
  const messages = session.branch.slice(at + 1).flatMap(({ message }) => (message ? [message] : []));
  const isUser = ({ role }: { role: string }) => role === 'user';
  const same = messages.findLastIndex((message) => isUser(message) && sha256(textOf(message.content)) === sent.sha256);
  // Pi puts the text of a skill or a prompt template in place of its name, and extensions may change what they see.
  const isPlaced = sent.after === null || at !== -1;
  const prompt = same === -1 && isPlaced ? messages.findIndex(isUser) : same;
  if (prompt === -1) return { kind: 'not-begun' };
  const after = messages.slice(prompt + 1);
  if (!after.some((message) => message.role === 'assistant')) return { kind: 'not-begun' };
  const last = after.at(-1);
  if (last?.role === 'assistant' && FINAL.has(last.stopReason ?? '') && textOf(last.content).trim() !== '') {
    return { kind: 'answered', text: textOf(last.content), stopReason: last.stopReason ?? 'stop' };
  }
  return { kind: 'unfinished' };
}

function textOf(content: NonNullable<Entry['message']>['content']): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map((part) => ('text' in part ? part.text : '')).join('');
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

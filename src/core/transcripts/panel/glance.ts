/**
 * What is told of a line without decoding it: whether it begins a group, and where it stands in the tree of its session.
 * Forward and backward reading must agree on it, so both ask here and only here.
 *
 * A group is a message with everything up to the next message: its tool results, and what was streamed of the next answer.
 * Each item comes from one group alone.
 */
import * as z from 'zod/mini';
import type { FileLine } from './file-lines.ts';

export interface Glance {
  /** Who speaks, when the line begins a group. */
  starts: 'assistant' | 'other' | null;
  /** Nothing of it is shown. */
  silent: boolean;
  /** Of a session entry; undefined: it has none. */
  id: string | undefined;
  parentId: string | undefined;
}

export type GlanceAt = (line: FileLine) => Glance;

const NOTHING: Glance = { starts: null, silent: false, id: undefined, parentId: undefined };

/** Bytes that are looked at before a line is decoded: what Pi and we write says all within them. */
const HEAD_BYTES = 512;

const MIRROR_MESSAGE = /^\{"type":"message","t":[\d.e+]{1,25},"role":"(user|assistant|custom)",/;
const MIRROR_OTHER = /^\{"type":"(?:delta|tool\.start|tool\.update|tool\.end|retry|compaction|note)",/;

const mirrorHead = z.object({ type: z.string(), role: z.optional(z.string()) });

/** Of a line of a transcript mirror. */
export const glanceAtMirror: GlanceAt = (line) => {
  const head = line.head.toString('latin1', 0, HEAD_BYTES);
  const role = MIRROR_MESSAGE.exec(head)?.[1];
  if (role !== undefined) return { ...NOTHING, starts: role === 'assistant' ? role : 'other' };
  if (MIRROR_OTHER.test(head)) return NOTHING;
  const parsed = mirrorHead.safeParse(decoded(line));
  if (!parsed.success || parsed.data.type !== 'message') return NOTHING;
  return { ...NOTHING, starts: parsed.data.role === 'assistant' ? 'assistant' : 'other' };
};

const ID = '"id":"([^"\\\\]{1,128})"';
const PARENT = '"parentId":(?:null|"([^"\\\\]{1,128})")';
/** As Pi writes most entries: what it is and where it stands first. */
const SESSION_HEAD = new RegExp(
  `^\\{"type":"([a-z_]{1,40})",${ID},${PARENT},(?:"timestamp":"[^"\\\\]{1,40}",(?:"message":\\{"role":"([A-Za-z]{1,40})")?)?`,
);
/** As it writes entries of extensions: their data first. */
const SESSION_TAIL = new RegExp(`,${ID},${PARENT},"timestamp":"[^"\\\\]{1,40}"\\}\\s*$`);
const SESSION_KIND = /^\{"type":"([a-z_]{1,40})"/;

const sessionHead = z.object({
  type: z.string(),
  id: z.optional(z.string()),
  parentId: z.nullish(z.string()),
  message: z.optional(z.object({ role: z.optional(z.string()) })),
});

/** Entries in which nothing is said. */
const SILENT_TYPES = new Set(['session', 'custom', 'label', 'usage', 'context_edit', 'thinking_level_change']);
const STARTING_TYPES = new Set(['custom_message', 'compaction', 'branch_summary']);
/** Roles that stand within an exchange: results belong to their call, the system prompt to Pi. */
const INNER_ROLES = new Set(['toolResult', 'system']);

/** Of a line of one of Pi's session files. */
export const glanceAtSession: GlanceAt = (line) => {
  const head = SESSION_HEAD.exec(line.head.toString('latin1', 0, HEAD_BYTES));
  const [, type = '', id, parentId, role] = head ?? [];
  if (head && (type !== 'message' || role !== undefined)) return sessionGlance(type, role, utf8(id), utf8(parentId));
  if (!line.data) {
    const kind = SESSION_KIND.exec(line.head.toString('latin1'))?.[1] ?? '';
    const end = SESSION_TAIL.exec(line.tail.toString('latin1'));
    return sessionGlance(kind, undefined, utf8(id ?? end?.[1]), utf8(parentId ?? end?.[2]));
  }
  const parsed = sessionHead.safeParse(decoded(line));
  if (!parsed.success) return NOTHING;
  const { message, ...entry } = parsed.data;
  return sessionGlance(entry.type, message?.role, entry.id, entry.parentId ?? undefined);
};

function utf8(latin1: string | undefined): string | undefined {
  return latin1 === undefined ? undefined : Buffer.from(latin1, 'latin1').toString('utf8');
}

function sessionGlance(
  type: string,
  role: string | undefined,
  id: string | undefined,
  parentId: string | undefined,
): Glance {
  const starts = STARTING_TYPES.has(type) || (type === 'message' && !INNER_ROLES.has(role ?? 'toolResult'));
  return {
    starts: starts ? (role === 'assistant' ? 'assistant' : 'other') : null,
    silent: SILENT_TYPES.has(type) || role === 'system',
    // The header is no entry.
    ...(type === 'session' ? { id: undefined, parentId: undefined } : { id, parentId }),
  };
}

/** The JSON of a line; undefined when it is none or too long. */
export function decoded(line: FileLine): unknown {
  if (!line.data) return undefined;
  try {
    return JSON.parse(line.data.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * What the extension host and its transcript worker say to each other. The worker alone reads transcript files: it opens
 * sources, follows their growth, and answers with items that can be shown. Both sides parse what they are sent.
 *
 * A source sends one `snapshot` or `delta` at a time and the next only after `taken`: what comes meanwhile stays on disk.
 */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { findHit, PANEL_ITEM_KINDS, panelItem, transcriptWindow } from './transcript-panel.ts';

/** What the worker is started with: texts in the person's language. `{0}` is the model or the name. */
export const transcriptWorkerData = z.object({ words: z.object({ model: z.string(), name: z.string() }) });
export type TranscriptWorkerData = z.infer<typeof transcriptWorkerData>;

/** Names an open source; chosen by the host. */
const source = z.number();
const request = z.number();

const sourceFile = z.object({
  kind: z.enum(['mirror', 'session']),
  /** Absolute. Of a mirror its head, beside which its other segments lie. */
  path: z.string(),
});
export type SourceFile = z.infer<typeof sourceFile>;

/** What the reader cannot know from the file. */
const sourceContext = z.object({
  /** Somebody writes it: what has no end yet is still going on. Null: that is not known, and told by its growth. */
  live: z.nullable(z.boolean()),
  /** Messages to the child: a user message that begins like one of them was sent so. */
  steering: z.array(z.object({ mode: z.enum(['steer', 'follow-up']), preview: z.string() })),
});
export type SourceContext = z.infer<typeof sourceContext>;

export const toTranscriptWorker = z.discriminatedUnion('type', [
  /**
   * `files`: the first one that is there and whole is shown, else the first that is there, else the first. Of a transcript
   * that is being written the first is waited for. `wanted`: this one of them, whatever it is like. Answered with a
   * `snapshot`. `quiet`: it is only asked about; no snapshot is sent, and its growth is not followed.
   */
  z.object({
    type: z.literal('open'),
    source,
    files: z.array(sourceFile),
    wanted: z.nullable(z.number()),
    context: sourceContext,
    quiet: z.boolean(),
  }),
  z.object({ type: z.literal('context'), source, context: sourceContext }),
  /** The last snapshot or delta has been taken. */
  z.object({ type: z.literal('taken'), source }),
  /** `following` false: nobody looks; nothing is read until it is true again, which is answered with a snapshot. */
  z.object({ type: z.literal('follow'), source, following: z.boolean() }),
  z.object({
    type: z.literal('page'),
    source,
    request,
    direction: z.enum(['before', 'after', 'around', 'tail']),
    cursor: z.nullable(z.string()),
  }),
  /** Each piece but the last waits for `more`. */
  z.object({ type: z.literal('body'), source, request, ref: z.string(), limit: z.number() }),
  z.object({ type: z.literal('more'), source, request }),
  /** Ends the search before it; an empty query only ends it. */
  z.object({ type: z.literal('find'), source, request, query: z.string(), matchCase: z.boolean() }),
  /** Writes the whole as Markdown into a file. */
  z.object({ type: z.literal('export'), source, request, path: z.string(), title: z.string() }),
  z.object({ type: z.literal('cancel'), source, request }),
  z.object({ type: z.literal('close'), source }),
  /** Nobody reads any more: the thread ends when nothing is open. */
  z.object({ type: z.literal('end') }),
  /** Answered with `memory`. */
  z.object({ type: z.literal('measure') }),
]);
export type ToTranscriptWorker = z.infer<typeof toTranscriptWorker>;

/** With what its item is; `tool`: the name of the tool. */
const hit = z.extend(findHit, { kind: z.enum(PANEL_ITEM_KINDS), tool: z.nullable(z.string()) });
export type FindHit = z.infer<typeof hit>;

export const fromTranscriptWorker = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('snapshot'),
    source,
    window: transcriptWindow,
    /** Which of the files is shown; the index in `files`. */
    shown: z.number(),
    /** Which of the files are there. */
    there: z.array(z.boolean()),
    /** The folder the session was held in, when the file says so. */
    cwd: z.nullable(z.string()),
  }),
  z.object({
    type: z.literal('delta'),
    source,
    changed: z.array(panelItem),
    grown: z.array(z.object({ key: z.string(), text: z.string() })),
    removed: z.array(z.string()),
    added: z.array(panelItem),
  }),
  z.object({ type: z.literal('page'), source, request, window: z.nullable(transcriptWindow) }),
  z.object({ type: z.literal('body'), source, request, text: z.nullable(z.string()), done: z.boolean() }),
  z.object({
    type: z.literal('found'),
    source,
    request,
    hits: z.array(hit),
    scanned: z.number(),
    size: z.number(),
    cut: z.boolean(),
    done: z.boolean(),
  }),
  z.object({ type: z.literal('exported'), source, request }),
  z.object({ type: z.literal('failed'), source, request: z.nullable(z.number()), error: errorValue }),
  /** Bytes after a collection, where collecting can be asked for. */
  z.object({ type: z.literal('memory'), heapUsed: z.number(), external: z.number() }),
]);
export type FromTranscriptWorker = z.infer<typeof fromTranscriptWorker>;

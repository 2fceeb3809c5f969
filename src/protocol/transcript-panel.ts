/**
 * What a transcript panel (webview) and the extension say to each other, and the items a transcript is shown as.
 *
 * The page says `ready`; before that nothing is posted to it. It is answered with a `snapshot`, which replaces everything
 * the page shows; after that `delta`s change it, at most one per frame. Requests of the page carry a number that their
 * answer repeats. A transcript can be of any size: the page holds a *window* of items and asks for neighbours by cursor.
 */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';
import { questionAnswer } from './rpc.ts';
import { runState } from './run.ts';
import { usage } from './usage.ts';
import { questionView, steerView } from './view.ts';

/** Longest text of one body that is sent unasked, in characters. The rest is fetched by its `ref`. */
export const MAX_INLINE_CHARS = 16 * 1024;

/** Longest text of one piece of a body that is fetched, in characters. */
export const MAX_PIECE_CHARS = 256 * 1024;

/** Text of any length. It is what a child said: data, never markup. */
const body = z.object({
  /** The beginning, at most `MAX_INLINE_CHARS`; of running output the end. */
  text: z.string(),
  /** Length of the whole, in characters. */
  length: z.number(),
  /** Names the whole for `body.fetch`; null when `text` is the whole. */
  ref: z.nullable(z.string()),
});
export type PanelBody = z.infer<typeof body>;

/** Position in a transcript: opaque to the page, ordered by nobody but the extension. */
const cursor = z.string();

const item = {
  /** The same item keeps its key for as long as its transcript exists. */
  key: z.string(),
  /** Where it stands, to ask for its neighbours; null: nothing of it is stored yet. */
  cursor: z.nullable(cursor),
  /** Epoch milliseconds; 0: not known. */
  t: z.number(),
};

/** One changed line region of an edited file, as Pi's edit tool reports it. */
const diffLine = z.object({ kind: z.enum(['context', 'added', 'removed']), text: z.string() });

export const panelItem = z.discriminatedUnion('kind', [
  /** `origin`: how it reached the child. `context`: put there by Pi or an extension, not by a person. */
  z.object({ ...item, kind: z.literal('user'), origin: z.enum(['task', 'steer', 'follow-up', 'context']), body }),
  /** One text block of an answer. `streaming`: more is coming. */
  z.object({ ...item, kind: z.literal('text'), body, streaming: z.boolean(), model: z.nullable(z.string()) }),
  z.object({ ...item, kind: z.literal('thinking'), body, streaming: z.boolean() }),
  z.object({ ...item, kind: z.literal('image'), mimeType: z.string() }),
  z.object({
    ...item,
    kind: z.literal('tool'),
    name: z.string(),
    /** JSON text of the arguments, pretty printed; as far as it has come while it is streamed. */
    arguments: body,
    /** One line that tells the call from others: the command, the path, the pattern. */
    title: z.string(),
    /** `unfinished`: the child ended, or the conversation went on, without a result. */
    state: z.enum(['running', 'done', 'failed', 'unfinished']),
    output: body,
    startedAt: z.nullable(z.number()),
    durationMs: z.nullable(z.number()),
    /** The file it read or changed, as the child named it. */
    file: z.nullable(z.object({ path: z.string(), line: z.nullable(z.number()) })),
    /** What an edit or write changed; null: not an edit, or not known. */
    diff: z.nullable(z.object({ lines: z.array(diffLine), cut: z.boolean() })),
  }),
  /** End of an answer: why it ended and what it cost. Shown small; `error` shown large. */
  z.object({
    ...item,
    kind: z.literal('turn'),
    model: z.nullable(z.string()),
    stopReason: z.nullable(z.string()),
    error: z.nullable(z.string()),
    usage: z.nullable(usage),
  }),
  z.object({
    ...item,
    kind: z.literal('retry'),
    attempt: z.number(),
    maxAttempts: z.number(),
    delayMs: z.number(),
    error: z.string(),
  }),
  z.object({
    ...item,
    kind: z.literal('compaction'),
    running: z.boolean(),
    reason: z.string(),
    summary: z.nullable(body),
  }),
  /** Something of ours: a model change, the end of the child. */
  z.object({ ...item, kind: z.literal('note'), text: z.string() }),
  /** Something is missing here: cut by a limit, or not readable (`records` of them). */
  z.object({ ...item, kind: z.literal('gap'), reason: z.enum(['limit', 'damaged']), records: z.nullable(z.number()) }),
]);
export type PanelItem = z.infer<typeof panelItem>;

export const PANEL_ITEM_KINDS = [
  'user',
  'text',
  'thinking',
  'image',
  'tool',
  'turn',
  'retry',
  'compaction',
  'note',
  'gap',
] as const satisfies readonly PanelItem['kind'][];

/** What the head and the foot of the page show of the run. Absent for a session that belongs to no run. */
const head = z.object({
  runId: z.nullable(z.string()),
  title: z.string(),
  agent: z.nullable(z.string()),
  state: z.nullable(runState),
  /** The state in the person's language. */
  stateWord: z.string(),
  /** What the child does now, in the person's language: "thinking", "running bash". */
  activity: z.nullable(z.string()),
  model: z.nullable(z.string()),
  usage: z.nullable(usage),
  /** Tokens the last request put before the model, and the most it takes; null: not known. */
  context: z.nullable(z.object({ tokens: z.number(), window: z.nullable(z.number()) })),
  startedAt: z.nullable(z.number()),
  endedAt: z.nullable(z.number()),
  error: z.nullable(errorValue),
  questions: z.array(questionView),
  /** Messages to the child, newest last, with their receipts. */
  steering: z.array(steerView),
  /** Which of the page's actions the run takes now. */
  can: z.object({
    steer: z.boolean(),
    interrupt: z.boolean(),
    stop: z.boolean(),
    forceStop: z.boolean(),
    resume: z.boolean(),
  }),
  source: z.object({
    kind: z.enum(['mirror', 'session']),
    /** The other source can be shown instead. */
    other: z.boolean(),
  }),
});
export type PanelHead = z.infer<typeof head>;

export const transcriptWindow = z.object({
  items: z.array(panelItem),
  /** Ask with it for what comes before the first item; null: this is the beginning. */
  before: z.nullable(cursor),
  /** Ask with it for what comes after the last item; null: this is the end, and deltas add to it. */
  after: z.nullable(cursor),
});
export type PanelWindow = z.infer<typeof transcriptWindow>;

/** One place at which a text was found. `at` and `length` say where it stands in the excerpt, in characters. */
export const findHit = z.object({ key: z.string(), cursor, excerpt: z.string(), at: z.number(), length: z.number() });

const request = z.number();

export const toTranscriptPanel = z.discriminatedUnion('type', [
  z.object({ type: z.literal('snapshot'), head, window: transcriptWindow, draft: z.string() }),
  z.object({
    type: z.literal('delta'),
    head: z.optional(head),
    /** Items that were there, by their key, as they are now. Unknown keys are ignored. */
    changed: z.array(panelItem),
    /** Text that came at the end of a streaming item's body (`output` of a tool, else `body`). */
    grown: z.array(z.object({ key: z.string(), text: z.string() })),
    /** Keys of streaming items that were replaced by finished ones. */
    removed: z.array(z.string()),
    /** New items at the end; ignored by a page whose window does not reach the end. */
    added: z.array(panelItem),
  }),
  /** Answer to `page`. `missing`: the cursor's place does not exist any more; the page asks for the tail. */
  z.object({ type: z.literal('page'), request, window: z.nullable(transcriptWindow) }),
  /** Answer to `body.fetch`: pieces in order, `done` with the last. `text` null: it is not there any more. */
  z.object({ type: z.literal('body'), request, text: z.nullable(z.string()), done: z.boolean() }),
  /** Answers to `find`, as they are found; `done` with the last. `scanned` and `size` in bytes. */
  z.object({
    type: z.literal('found'),
    request,
    hits: z.array(findHit),
    scanned: z.number(),
    size: z.number(),
    /** More than the limit were there. */
    cut: z.boolean(),
    done: z.boolean(),
  }),
  z.object({
    type: z.literal('receipt'),
    request,
    state: z.enum(['queued', 'delivered', 'missed', 'failed', 'refused']),
    /** For people, in their language; null: nothing to add. */
    message: z.nullable(z.string()),
  }),
  z.object({ type: z.literal('failed'), request: z.nullable(z.number()), error: errorValue }),
  /** A command of the editor for the page: its find box, its steer box. */
  z.object({ type: z.literal('focus'), what: z.enum(['find', 'steer', 'list']) }),
  /** Something that was found from outside is to be shown, in the find box: the so-manieth hit of its item, from 0. */
  z.object({ type: z.literal('hit'), query: z.string(), hit: findHit, occurrence: z.number() }),
]);
export type ToTranscriptPanel = z.infer<typeof toTranscriptPanel>;

export const fromTranscriptPanel = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /**
   * What comes before or after an item; `around`: a window with it in the middle, for a find hit or a restored place. An
   * answer may repeat items the page has, but never leaves one out.
   */
  z.object({
    type: z.literal('page'),
    request,
    direction: z.enum(['before', 'after', 'around', 'tail']),
    cursor: z.nullable(cursor),
  }),
  /** `limit`: characters wanted at most, from the beginning. `done` comes with the last of them even when there is more. */
  z.object({ type: z.literal('body.fetch'), request, ref: z.string(), limit: z.number() }),
  /** A new `find` ends the one before; an empty query only ends it. */
  z.object({ type: z.literal('find'), request, query: z.string(), matchCase: z.boolean() }),
  z.object({ type: z.literal('steer'), request, mode: z.enum(['steer', 'follow-up']), text: z.string() }),
  z.object({ type: z.literal('answer'), request, questionId: z.string(), answer: questionAnswer }),
  /** What stands unsent in the steer box: kept across reloads. */
  z.object({ type: z.literal('draft'), text: z.string() }),
  /** Relative paths are relative to the run's folder. `line` from 1. */
  z.object({ type: z.literal('open.file'), path: z.string(), line: z.nullable(z.number()) }),
  /** A web link of the text: the editor asks the person before it opens. */
  z.object({ type: z.literal('open.link'), url: z.string() }),
  z.object({ type: z.literal('open.body'), ref: z.string(), title: z.string() }),
  z.object({ type: z.literal('copy'), text: z.string() }),
  z.object({
    type: z.literal('command'),
    name: z.enum(['interrupt', 'stop', 'force-stop', 'resume', 'switch-source', 'open-text']),
  }),
]);
export type FromTranscriptPanel = z.infer<typeof fromTranscriptPanel>;

/**
 * What the page keeps with `setState`, and the serializer gets back: which transcript, and the place in it. Never content.
 * `run`: its folder. `session`: a session file that belongs to no run.
 */
export const transcriptPanelState = z.object({
  version: z.literal(1),
  subject: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('run'), directory: z.string(), child: z.number() }),
    z.object({ kind: z.literal('session'), file: z.string() }),
  ]),
  /** The item at the top of the page, when it does not follow the end. */
  anchor: z.nullable(z.object({ key: z.string(), cursor })),
});
export type TranscriptPanelState = z.infer<typeof transcriptPanelState>;

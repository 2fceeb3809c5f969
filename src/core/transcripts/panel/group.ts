/**
 * The items of one group of lines, in the order in which they began. Pure: what is shown follows from the lines, from how
 * the group ends, and from what the reader knows beside them.
 */
import { cutText, type PanelBody, type PanelItem, type SourceContext } from '../../../protocol/index.ts';
import { redact } from '../redact.ts';
import { bodyOf, GrowingText, NO_BODY } from './bodies.ts';
import type { FileLine } from './file-lines.ts';
import { formatCursor, formatRef, type Place, type RefTarget } from './places.ts';
import { diffFromArguments, diffFromPi, toolFile, toolTitle } from './tool-facts.ts';

/** How a group ends: by the next message, or not yet. */
export type GroupEnd = 'assistant' | 'other' | 'open';

/** What is needed beside the lines. */
export interface Surroundings extends SourceContext {
  live: boolean;
  /** The first message of a person: the task. */
  firstUser: Place | undefined;
}

/** Hears every whole text that an item shows. */
export type OnText = (key: string, text: string) => void;

type ItemFields<K extends PanelItem['kind']> = Omit<Extract<PanelItem, { kind: K }>, 'key' | 'cursor' | 'kind'>;
type ToolItem = Extract<PanelItem, { kind: 'tool' }>;
type Origin = Extract<PanelItem, { kind: 'user' }>['origin'];

type Slot = (cursor: string, end: GroupEnd, around: Surroundings) => PanelItem | undefined;

/** As much of a message as was kept with the request to send it. */
const PREVIEW_CHARS = 160;
const ENOUGH_CHARS = 4096;

export interface ToolResult {
  at: Place;
  t: number;
  name: string;
  text: string;
  isError: boolean;
  durationMs: number | undefined;
  /** As Pi's edit tool tells it. */
  diff: string | undefined;
  /** The text is the line as it is, of this length. */
  rawLength?: number;
}

interface Tool {
  key: string;
  t: number;
  name: string;
  args: PanelBody;
  facts: Pick<ToolItem, 'title' | 'file'>;
  /** What it changes if it succeeds, unless the tool tells it itself. */
  planned: ToolItem['diff'];
  startedAt: number | null;
  output: PanelBody;
  ended: (ToolResult & { output: PanelBody }) | undefined;
}

interface Stream {
  kind: 'text' | 'thinking' | 'toolCall';
  text: GrowingText;
}

export class Group {
  readonly start: Place;
  readonly #prefix: string;
  readonly #onText: OnText | undefined;
  readonly #slots: Slot[] = [];
  readonly #tools = new Map<string, Tool>();
  readonly #streams = new Map<string, Stream>();
  #damage: { count: number } | undefined;
  #compacting: ((item: ItemFields<'compaction'>) => void) | undefined;

  /** @param prefix in front of every key, so that items of different files are never taken for each other */
  constructor(start: Place, prefix: string, onText?: OnText) {
    this.start = start;
    this.#prefix = prefix;
    this.#onText = onText;
  }

  items(end: GroupEnd, around: Surroundings): PanelItem[] {
    return this.#slots.flatMap((slot, index) => slot(formatCursor(this.start, index), end, around) ?? []);
  }

  #key({ part, offset }: Place, what: string | number): string {
    return `${this.#prefix}${part}:${offset}/${what}`;
  }

  #body(at: Place, key: string, text: string, target: RefTarget): PanelBody {
    this.#onText?.(key, text);
    return bodyOf(text, () => formatRef(at, target));
  }

  #push(slot: Slot): void {
    this.#slots.push(slot);
  }

  /** A line that could be read: damage before and after it is not one. */
  readable(): void {
    this.#damage = undefined;
  }

  #pushItem(item: PanelItem): void {
    this.#push((cursor) => ({ ...item, cursor }));
  }

  user(at: Place, t: number, index: number, text: string, given: 'context' | undefined): void {
    const key = this.#key(at, index);
    const body = this.#body(at, key, text, { kind: 'block', index });
    this.#push((cursor, _, around) => ({
      kind: 'user',
      key,
      cursor,
      t,
      origin: given ?? originOf(at, text, around),
      body,
    }));
  }

  said(kind: 'text' | 'thinking', at: Place, t: number, index: number, text: string, model: string | null): void {
    // Providers send empty blocks with signatures.
    if (text.trim() === '') return;
    const key = this.#key(at, index);
    const body = this.#body(at, key, text, { kind: 'block', index });
    const base = { key, cursor: '', t, body, streaming: false };
    this.#pushItem(kind === 'text' ? { ...base, kind, model } : { ...base, kind });
  }

  image(at: Place, t: number, index: number, mimeType: string): void {
    this.#pushItem({ kind: 'image', key: this.#key(at, index), cursor: '', t, mimeType });
  }

  turn(at: Place, fields: ItemFields<'turn'>): void {
    const key = this.#key(at, 'end');
    if (fields.error) this.#onText?.(key, fields.error);
    this.#pushItem({ kind: 'turn', key, cursor: '', ...fields });
  }

  retry(at: Place, fields: ItemFields<'retry'>): void {
    this.#pushItem({ kind: 'retry', key: this.#key(at, 0), cursor: '', ...fields });
  }

  note(at: Place, t: number, text: string): void {
    const key = this.#key(at, 0);
    this.#onText?.(key, text);
    this.#pushItem({ kind: 'note', key, cursor: '', t, text: bodyOf(text, () => '').text });
  }

  dropped(at: Place): void {
    this.#pushItem({ kind: 'gap', key: this.#key(at, 'gap'), cursor: '', t: 0, reason: 'limit', records: null });
  }

  /** One line that cannot be read. Those that follow it are told together with it. */
  damaged(at: Place): void {
    if (this.#damage) {
      this.#damage.count++;
      return;
    }
    const damage = { count: 1 };
    const key = this.#key(at, 'gap');
    this.#damage = damage;
    this.#push((cursor) => ({ kind: 'gap', key, cursor, t: 0, reason: 'damaged', records: damage.count }));
  }

  /** The file does not begin as it should: how much is missing in front is not known. */
  headless(at: Place): void {
    const key = this.#key(at, 'head');
    this.#pushItem({ kind: 'gap', key, cursor: '', t: 0, reason: 'damaged', records: null });
  }

  compaction(at: Place, running: boolean, t: number, reason: string, summary: string | undefined): void {
    const open = this.#compacting;
    const key = this.#key(at, 0);
    const body = summary === undefined ? null : this.#body(at, key, summary, { kind: 'text' });
    if (open && !running) {
      open({ t, running: false, reason, summary: body });
      this.#compacting = undefined;
      return;
    }
    let fields: ItemFields<'compaction'> = { t, running, reason, summary: body };
    this.#push((cursor, end, around) => ({
      kind: 'compaction',
      key,
      cursor,
      ...fields,
      running: fields.running && end === 'open' && around.live,
    }));
    this.#compacting = running
      ? (ended) => {
          fields = { ...ended, t };
        }
      : undefined;
  }

  /** A call as it stands in the answer. `value`: its arguments; `text`: the same as people read them. */
  call(at: Place, t: number, index: number, call: { id: string; name: string; value: unknown; text: string }): void {
    const key = this.#key(at, index);
    const body = this.#body(at, key, call.text, { kind: 'arguments', index });
    this.#tool(call.id, key, t, call.name, call.value, body);
  }

  /** The tool has begun to run. */
  started(at: Place, t: number, call: { id: string; name: string; value: unknown; text: string }): void {
    let tool = this.#tools.get(call.id);
    if (!tool) {
      const key = this.#key(at, 0);
      const body = this.#body(at, key, call.text, { kind: 'arguments', index: 0 });
      tool = this.#tool(call.id, key, t, call.name, call.value, body);
    }
    tool.startedAt = t;
  }

  /** What a running tool has printed so far, or its end. */
  printed(id: string, text: string): void {
    const tool = this.#tools.get(id);
    if (tool && !tool.ended) tool.output = { text, length: text.length, ref: null };
  }

  ended(id: string, result: ToolResult): void {
    const { at, t, name } = result;
    const tool = this.#tools.get(id) ?? this.#tool(id, this.#key(at, 0), t, name, undefined, NO_BODY);
    const output =
      result.rawLength === undefined
        ? this.#body(at, tool.key, result.text, { kind: 'text' })
        : { text: result.text, length: result.rawLength, ref: formatRef(at, { kind: 'raw' }) };
    tool.ended = { ...result, text: '', output };
  }

  #tool(id: string, key: string, t: number, name: string, value: unknown, args: PanelBody): Tool {
    const facts = { title: toolTitle(value), file: toolFile(name, value) };
    const planned = diffFromArguments(name, value);
    const tool: Tool = { key, t, name, args, facts, planned, startedAt: null, output: NO_BODY, ended: undefined };
    this.#tools.set(id, tool);
    this.#push((cursor, end, around) => toolItem(tool, cursor, end === 'open' && around.live));
    return tool;
  }

  /** A piece of an answer that is being written. The message that follows replaces it. */
  streamed(at: Place, t: number, kind: Stream['kind'], index: number, text: string): void {
    const id = `${kind}:${index}`;
    const known = this.#streams.get(id);
    if (known) {
      known.text.add(text);
      return;
    }
    const grown = new GrowingText(() => formatRef(at, { kind: 'stream', of: kind, index }));
    grown.add(text);
    this.#streams.set(id, { kind, text: grown });
    const key = this.#key(at, 'live');
    let told = false;
    this.#push((cursor, end, around) => {
      if (end === 'assistant') return undefined;
      if (!told) this.#onText?.(key, grown.end);
      told = true;
      return streamItem(kind, { key, cursor, t }, grown.body(), end === 'open' && around.live);
    });
  }

  /** A line that is too long to be decoded, as the beginning of it. */
  cut(kind: 'user' | 'text', at: Place, line: FileLine): void {
    const key = this.#key(at, 0);
    const body = { text: line.head.toString('utf8'), length: line.bytes, ref: formatRef(at, { kind: 'raw' }) };
    const base = { key, cursor: '', t: 0, body };
    this.#pushItem(
      kind === 'user' ? { ...base, kind, origin: 'context' } : { ...base, kind, streaming: false, model: null },
    );
  }
}

export function originOf(at: Place, text: string, around: Surroundings): Origin {
  const { firstUser } = around;
  if (firstUser && firstUser.part === at.part && firstUser.offset === at.offset) return 'task';
  const preview = cutText(redact(text.slice(0, ENOUGH_CHARS)).replace(/\s+/g, ' '), PREVIEW_CHARS);
  return around.steering.find((steer) => steer.preview === preview)?.mode ?? 'follow-up';
}

function toolItem(tool: Tool, cursor: string, running: boolean): ToolItem {
  const { key, t, name, args, facts, ended } = tool;
  const base = { kind: 'tool' as const, key, cursor, t, name, arguments: args, ...facts };
  if (!ended) {
    const state = running ? ('running' as const) : ('unfinished' as const);
    return { ...base, state, output: tool.output, startedAt: tool.startedAt, durationMs: null, diff: null };
  }
  const told = ended.diff === undefined ? undefined : diffFromPi(ended.diff);
  const durationMs = ended.durationMs ?? (tool.startedAt === null ? null : ended.t - tool.startedAt);
  return {
    ...base,
    state: ended.isError ? 'failed' : 'done',
    output: ended.output,
    startedAt: tool.startedAt ?? (durationMs === null ? null : ended.t - durationMs),
    durationMs,
    file: facts.file && { ...facts.file, line: facts.file.line ?? told?.firstLine ?? null },
    diff: ended.isError ? null : (told?.diff ?? tool.planned),
  };
}

function streamItem(
  kind: Stream['kind'],
  base: { key: string; cursor: string; t: number },
  body: PanelBody,
  streaming: boolean,
): PanelItem {
  if (kind === 'text') return { ...base, kind, body, streaming, model: null };
  if (kind === 'thinking') return { ...base, kind, body, streaming };
  return {
    ...base,
    kind: 'tool',
    name: '…',
    arguments: body,
    title: '',
    state: streaming ? 'running' : 'unfinished',
    output: NO_BODY,
    startedAt: null,
    durationMs: null,
    file: null,
    diff: null,
  };
}

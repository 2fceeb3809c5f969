/**
 * A workflow as its journal tells it: one step is what was delivered to the script, what it said and planned, and what it asked for,
 * in this order and made durable together before anything starts. Long texts stand in files of their own.
 */
import { join } from 'node:path';
import { makePrivateFolder } from '../../core/files/index.ts';
import { readStored } from '../../core/runs/index.ts';
import {
  type AskedFact,
  type DeliveredStep,
  type ExecutionJournal,
  type Fact,
  type HistoryEntry,
  isObject,
  type SteppedStep,
} from '../../core/workflow/index.ts';
import type { JournalEvent, JournalLine, StoredFile, WorkflowFact } from '../../protocol/index.ts';
import type { OpenRun } from '../open-run.ts';

/** Bytes of JSON that stand in the journal itself. */
const MAX_INLINE = 512;
/** Lines of the journal have less than 64 KiB. */
const PART_BYTES = 32 * 1024;
const PART_COUNT = 100;

export class WorkflowJournal implements ExecutionJournal {
  readonly #run: OpenRun;
  /** How the values of facts are written, by the value itself: facts are copied on their way. */
  readonly #written = new WeakMap<object, { json: string } | { body: StoredFile }>();
  #files = 0;

  constructor(run: OpenRun) {
    this.#run = run;
  }

  /** Makes the value of a fact durable, before anybody is told of it. */
  async keep(fact: Fact): Promise<Fact> {
    if (!isObject(fact.value)) return fact;
    const json = JSON.stringify(fact.value);
    const isLong = Buffer.byteLength(json) > MAX_INLINE;
    this.#written.set(fact.value, isLong ? { body: await this.#store(json) } : { json });
    return fact;
  }

  async #store(json: string): Promise<StoredFile> {
    const folder = join(this.#run.layout.artifacts, 'facts');
    await makePrivateFolder(folder);
    this.#files += 1;
    return this.#run.store(join(folder, `${this.#run.epoch}-${this.#files}.json`), json);
  }

  delivered = ({ step, at, facts }: DeliveredStep): void => {
    const written = facts.map((fact) => this.#toWrite(fact));
    const parts = inParts(written);
    for (const [index, part] of parts.entries()) {
      const more = index < parts.length - 1 ? { more: true as const } : {};
      this.#run.note({ type: 'workflow.delivered', step, at, facts: part, ...more });
    }
  };

  late = (step: DeliveredStep): void => this.delivered(step);

  stepped = async ({ step, asks, emits, console, lanes, queue, interruptAt, limits }: SteppedStep): Promise<void> => {
    const said: Said['emits'] = [];
    for (const json of emits)
      said.push(Buffer.byteLength(json) > MAX_INLINE ? { body: await this.#store(json) } : { json });
    const events: JournalEvent[] = [];
    for (const part of inParts(said))
      if (part.length > 0) events.push({ type: 'workflow.said', step, emits: part, console: [] });
    for (const part of inParts(console))
      if (part.length > 0) events.push({ type: 'workflow.said', step, emits: [], console: part });
    if (lanes.length > 0) events.push({ type: 'workflow.planned', step, lanes });
    const parts = inParts(asks);
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      events.push({
        type: 'workflow.stepped',
        step,
        asks: part,
        limits,
        ...(isLast && queue ? { queue } : {}),
        ...(isLast && interruptAt ? { interruptAt } : {}),
        ...(isLast ? {} : { more: true as const }),
      });
    }
    await this.#run.append(...events);
  };

  #toWrite({ id, key, asked, ok, message, value }: AskedFact): WorkflowFact {
    const known = isObject(value) ? this.#written.get(value) : undefined;
    return {
      id,
      key,
      asked,
      ok,
      ...(known ?? (value === undefined ? {} : { json: JSON.stringify(value) })),
      ...(message === undefined ? {} : { message }),
    };
  }
}

type Said = Extract<JournalEvent, { type: 'workflow.said' }>;

/** At least one part, though it may be empty. */
function inParts<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [[]];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item));
    const last = parts.at(-1) ?? [];
    if (last.length > 0 && (bytes + size > PART_BYTES || last.length >= PART_COUNT)) {
      parts.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return parts;
}

/**
 * What earlier runners wrote down of the script, with the values of the facts.
 * @throws LanesError `run_unreadable` for a value that is not there any more as it was written
 */
export async function readHistory(directory: string, lines: readonly JournalLine[]): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  let facts: AskedFact[] = [];
  let asks: SteppedStep['asks'] = [];
  for (const line of lines) {
    if (line.type === 'workflow.delivered') {
      for (const fact of line.facts) facts.push(await readFact(directory, fact));
      if (line.more) continue;
      entries.push({ type: 'delivered', step: line.step, at: line.at, facts });
      facts = [];
    } else if (line.type === 'workflow.stepped') {
      asks.push(...line.asks);
      if (line.more) continue;
      const { step, interruptAt, limits } = line;
      entries.push({ type: 'stepped', step, asks, limits, ...(interruptAt ? { interruptAt } : {}) });
      asks = [];
    } else if (line.type === 'runner.started') {
      // What its predecessor had begun to write and not finished is not there.
      facts = [];
      asks = [];
    }
  }
  return entries;
}

async function readFact(directory: string, { json, body, ...fact }: WorkflowFact): Promise<AskedFact> {
  const text = body ? await readStored(directory, body) : json;
  return text === undefined ? fact : { ...fact, value: JSON.parse(text) };
}

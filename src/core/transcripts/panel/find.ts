/** Looking for text through a whole transcript: line by line, from the beginning, as long as somebody wants it. */
import { cutText, type FindHit, isPairSplit } from '../../../protocol/index.ts';
import type { Format } from './format.ts';
import { type Pages, startOf } from './pages.ts';
import type { Place } from './places.ts';

export const MAX_HITS = 500;
const TELL_EVERY_BYTES = 8 * 1024 * 1024;
const EXCERPT_BEFORE = 40;
const EXCERPT_AFTER = 120;

export interface FindProgress {
  hits: FindHit[];
  /** Bytes. */
  scanned: number;
  size: number;
  /** There are more than are told. */
  cut: boolean;
  done: boolean;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** A line without it need not be decoded. `undefined`: the text may look different in a line. */
function roughly(query: string, matchCase: boolean): ((data: Buffer) => boolean) | undefined {
  if (!/^[ !#-[\]-~]+$/.test(query)) return undefined;
  const pattern = new RegExp(escaped(query), matchCase ? '' : 'i');
  return (data) => {
    const text = data.toString('latin1');
    return pattern.test(text) || text.includes('\\u');
  };
}

function excerptOf(text: string, at: number, length: number): Pick<FindHit, 'excerpt' | 'at' | 'length'> {
  const wanted = Math.max(0, at - EXCERPT_BEFORE);
  const from = isPairSplit(text, wanted) ? wanted + 1 : wanted;
  const shown = Math.min(length, EXCERPT_AFTER);
  // One character for one: positions stay true.
  const excerpt = cutText(text.slice(from), at + length + EXCERPT_AFTER - shown - from).replace(/[\r\n\t]/g, ' ');
  return { excerpt: cutText(excerpt, EXCERPT_BEFORE + 2 * EXCERPT_AFTER), at: at - from, length: shown };
}

export async function* findIn(
  format: Format,
  pages: Pages,
  query: string,
  matchCase: boolean,
  signal: AbortSignal,
): AsyncGenerator<FindProgress> {
  const { parts, branch } = pages;
  const size = parts.bytes;
  const pattern = new RegExp(escaped(query), matchCase ? 'gu' : 'giu');
  const maybe = roughly(query, matchCase);
  let hits: FindHit[] = [];
  let found = 0;
  let scanned = 0;
  let told = 0;

  async function search(start: Place): Promise<void> {
    const texts: { key: string; text: string }[] = [];
    const { items } = await pages.fold(start, (key, text) => texts.push({ key, text }));
    for (const item of items) {
      const { key, cursor, kind } = item;
      const tool = item.kind === 'tool' ? item.name : null;
      for (const one of texts) {
        if (one.key !== key) continue;
        for (const match of one.text.matchAll(pattern)) {
          if (found === MAX_HITS) throw new TooMany();
          found++;
          hits.push({ key, cursor: cursor ?? '', ...excerptOf(one.text, match.index, match[0].length), kind, tool });
        }
      }
    }
  }

  await branch.reach(parts.begin, signal);
  let start = parts.begin;
  let candidate = false;
  try {
    for await (const lines of parts.forward(start)) {
      signal.throwIfAborted();
      for (const placed of lines) {
        if (!branch.on(placed.place)) continue;
        if (startOf(format, placed)) {
          if (candidate) await search(start);
          start = placed.place;
          candidate = false;
        }
        candidate ||= placed.line?.data !== undefined && (maybe?.(placed.line.data) ?? true);
        scanned = parts.bytesBefore(placed.next);
      }
      if (hits.length === 0 && scanned - told < TELL_EVERY_BYTES) continue;
      told = scanned;
      yield { hits, scanned, size, cut: false, done: false };
      hits = [];
    }
    if (candidate) await search(start);
    yield { hits, scanned: size, size, cut: false, done: true };
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    yield { hits, scanned, size, cut: true, done: true };
  }
}

class TooMany extends Error {}

/** Definitions with a mark where the cursor is. */
import { type Known, placeIn, suggestionsAt } from '../../../src/core/agent-language/index.ts';

export const MARK = '‸';

export function cut(marked: string): { text: string; offset: number } {
  const offset = marked.indexOf(MARK);
  if (offset === -1) throw new Error('there is no mark');
  return { text: marked.replace(MARK, ''), offset };
}

/** A header with more fields, closed. */
export const header = (...lines: string[]) =>
  ['---', 'name: a', 'description: b', ...lines, '---', 'Body.', ''].join('\n');

export function placeAt(marked: string) {
  const { text, offset } = cut(marked);
  return placeIn(text, offset);
}

/** What stands at the mark, in short. */
export function shortPlace(marked: string): string | undefined {
  const { text } = cut(marked);
  const place = placeAt(marked);
  if (!place) return undefined;
  const written = text.slice(place.span.start, place.span.end);
  if (written !== place.text) throw new Error(`the place of ${place.text} has ${written}`);
  const at = place.at === 'field' ? 'field' : [place.part, [place.field, ...place.keys].join('.')].join(' ');
  return `${at}: ${place.text} | ${place.others.join(',')}`;
}

/** What the text is when a suggestion is taken. */
export function taken(marked: string, known: Known): string[] {
  const { text, offset } = cut(marked);
  return suggestionsAt(text, offset, known).map(
    ({ span, text: written }) => text.slice(0, span.start) + written + text.slice(span.end),
  );
}

/** What can be written. */
export function offered(marked: string, known: Known): string[] {
  const { text, offset } = cut(marked);
  return suggestionsAt(text, offset, known).map(({ text: written }) => written);
}

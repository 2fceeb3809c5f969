/** The whole of a body that was shown in part, piece by piece. */
import { MAX_PIECE_CHARS } from '../../../protocol/index.ts';
import type { Format } from './format.ts';
import type { Parts } from './parts.ts';
import { parseRef } from './places.ts';

/** Pieces of at most `MAX_PIECE_CHARS`, in order; nothing at all when the reference names nothing that is there. */
export async function* wholeText(format: Format, parts: Parts, ref: string): AsyncGenerator<string> {
  const parsed = parseRef(ref);
  if (!parsed) return;
  const { target, ...place } = parsed;
  if (target.kind === 'raw') {
    for await (const text of parts.rawLine(place)) yield* pieces(text);
    return;
  }
  if (target.kind === 'stream') {
    for await (const lines of parts.forward(place)) {
      for (const line of lines) {
        const text = format.streamed(line, target);
        if (text === null) return;
        if (text !== '') yield* pieces(text);
      }
    }
    return;
  }
  const line = await parts.lineAt(place);
  const text = line?.data && format.text(line, target);
  if (text !== undefined) yield* pieces(text);
}

/** Pairs of surrogates stay whole. */
function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + MAX_PIECE_CHARS);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    yield text.slice(at, end);
    at = end;
  }
  if (text === '') yield '';
}

/** Cutting texts without leaving half a character behind: a lone surrogate is no text, and is written as `�` or `\ud83d`. */

/** The beginning of a text, at most so many UTF-16 units. */
export function cutText(text: string, max: number): string {
  return text.slice(0, isPairSplit(text, max) ? max - 1 : max);
}

/** The end of a text, at most so many UTF-16 units. */
export function cutTextFront(text: string, max: number): string {
  const from = Math.max(0, text.length - max);
  return text.slice(isPairSplit(text, from) ? from + 1 : from);
}

/** Whether a pair of surrogates stands across this place. */
export function isPairSplit(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
}

/** The beginning of a text, at most so many bytes of UTF-8. */
export function cutToBytes(text: string, max: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(max)).read);
}

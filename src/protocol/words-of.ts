/** What anything thrown says. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

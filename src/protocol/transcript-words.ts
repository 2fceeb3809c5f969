/** Texts of the transcript page, in English, by key; `{0}`, `{1}`, … are filled by the page. */
export const TRANSCRIPT_WORDS: Record<string, string> = {};

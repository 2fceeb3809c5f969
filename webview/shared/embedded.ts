import type * as z from 'zod/mini';

/** Data that the extension wrote into the page as `<script type="application/json" id="…">`; undefined: none, or it does not fit. */
export function readEmbedded<T>(id: string, schema: z.ZodMiniType<T>): T | undefined {
  const text = document.getElementById(id)?.textContent;
  if (!text) return undefined;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

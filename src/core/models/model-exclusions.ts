/**
 * Models that are left out for a while because their provider has failed: kept for all runs, so that the next one does not find it out
 * anew. A model that somebody names is refused while it is excluded; fallbacks pass it over.
 */
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { cutText } from '../../protocol/index.ts';
import { makePrivateFolder, readRegular, writeFileAtomic } from '../files/index.ts';
import { waitForLock } from '../locks/index.ts';

const modelExclusion = z.object({
  /** `provider/id` */
  model: z.string(),
  /** What the provider said, at most 240 characters. */
  evidence: z.string(),
  /** Milliseconds since 1970, as is `until`. */
  since: z.number(),
  until: z.number(),
});
export type ModelExclusion = z.infer<typeof modelExclusion>;

/** Milliseconds a model is left out when the settings say nothing else. */
export const EXCLUDED_MS = 24 * 60 * 60 * 1000;
/** Largest time that can be set: what a date can hold. */
export const MAX_EXCLUDED_MS = 8e15;
const MAX_EXCLUSIONS = 200;
const MAX_EVIDENCE_CHARS = 240;
const LOCK_MS = 5000;

const stored = z.object({ version: z.literal(1), exclusions: z.array(modelExclusion) });

/** Those that hold now. A shorter time than the one they were made with ends them sooner. */
export function holding(all: readonly ModelExclusion[], now: number, ttlMs = EXCLUDED_MS): ModelExclusion[] {
  return (
    all
      .map((one) => ({ ...one, until: Math.min(one.until, one.since + ttlMs) }))
      // A clock that was set back must not make them hold for ever.
      .filter(({ since, until }) => until > now && since <= now + ttlMs)
  );
}

/** With one more, in the place of what was known of its model; of too many the oldest go. */
export function withExclusion(all: readonly ModelExclusion[], added: ModelExclusion): ModelExclusion[] {
  const others = all.filter(({ model }) => model !== added.model);
  const evidence = cutText(added.evidence.replace(/\s+/g, ' ').trim(), MAX_EVIDENCE_CHARS);
  return [...others, { ...added, evidence }].slice(-MAX_EXCLUSIONS);
}

/** What cannot be read excludes nothing: it is only what failed before. */
export async function readExclusions(file: string): Promise<ModelExclusion[]> {
  try {
    const parsed = stored.safeParse(JSON.parse(await readRegular(file)));
    return parsed.success ? parsed.data.exclusions : [];
  } catch {
    return [];
  }
}

/** @param change gets all, those that hold no longer too */
export async function changeExclusions(
  file: string,
  change: (all: readonly ModelExclusion[]) => ModelExclusion[],
): Promise<ModelExclusion[]> {
  await makePrivateFolder(dirname(file));
  const lock = await waitForLock(`${file}.lock`, { purpose: 'models that are left out', deadlineMs: LOCK_MS });
  try {
    const before = await readExclusions(file);
    const exclusions = change(before);
    if (exclusions.length > 0 || before.length > 0)
      await writeFileAtomic(file, `${JSON.stringify({ version: 1, exclusions })}\n`, { mode: 0o600 });
    return exclusions;
  } finally {
    await lock.release();
  }
}

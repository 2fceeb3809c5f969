/** Rules that several schemas share. But for the longest delay not part of the vocabulary: only `protocol` itself uses them. */
import * as z from 'zod/mini';

/** Longest delay a timer can have. */
export const MAX_DELAY_MS = 2_147_483_647;

const utf8 = new TextEncoder();
export const utf8Bytes = (text: string) => utf8.encode(text).length;
export const atMost = (max: number) =>
  z.refine<string>((text) => utf8Bytes(text) <= max, `must have at most ${max} bytes`);
export const notBlank = z.refine<string>((text) => text.trim() !== '', 'must not be blank');
export const positive = z.int('must be a whole number').check(z.positive('must be at least 1'));
/** Milliseconds that a timer can wait. */
export const delay = positive.check(z.maximum(MAX_DELAY_MS, `must be at most ${MAX_DELAY_MS}`));
export const record = z.record(z.string(), z.unknown());

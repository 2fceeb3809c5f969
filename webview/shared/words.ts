/** The words of a page in the person's language. The extension writes them into the page; English stands in. */
import * as z from 'zod/mini';
import { readEmbedded } from './embedded.ts';

export class Words<Key extends string> {
  readonly #english: Readonly<Record<Key, string>>;
  readonly #translated: Readonly<Record<string, string>>;

  constructor(english: Readonly<Record<Key, string>>, translated: Readonly<Record<string, string>>) {
    this.#english = english;
    this.#translated = translated;
  }

  /** The text of a key, with its places `{0}`, `{1}`, … filled. */
  text(key: Key, ...values: readonly (string | number)[]): string {
    const text = this.#translated[key] ?? this.#english[key];
    return text.replace(/\{(\d)\}/g, (place, index: string) => String(values[Number(index)] ?? place));
  }
}

/** Translations out of `<script type="application/json" id="words">`. */
export function embeddedWords<Key extends string>(english: Readonly<Record<Key, string>>): Words<Key> {
  return new Words(english, readEmbedded('words', z.record(z.string(), z.string())) ?? {});
}

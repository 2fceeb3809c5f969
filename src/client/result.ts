/** Reading what a child left behind. */

import * as z from 'zod/mini';
import { readRegular } from '../core/files/index.ts';
import { childLayout } from '../core/projects/index.ts';
import { MirrorReader, TranscriptText } from '../core/transcripts/index.ts';

const resultFile = z.object({
  version: z.literal(1),
  text: z.string(),
  /** Absent: none was asked for, or none was given. */
  structuredOutput: z.optional(z.unknown()),
});
export type ResultFile = z.infer<typeof resultFile>;

/** The last answer of a child; `undefined` when it has none yet or it cannot be read. */
export async function readResult(directory: string, child: number): Promise<ResultFile | undefined> {
  try {
    return resultFile.parse(JSON.parse(await readRegular(childLayout(directory, child).result)));
  } catch {
    return undefined;
  }
}

export async function readResultText(directory: string, child: number): Promise<string | undefined> {
  return (await readResult(directory, child))?.text;
}

/** A child's transcript as text, growing with each `refresh`. */
export class TranscriptFollower {
  readonly #reader: MirrorReader;
  readonly #text = new TranscriptText();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(directory: string, child: number) {
    this.#reader = new MirrorReader(childLayout(directory, child).transcript);
  }

  /** True when something came. One call reads after the other: two at once would take the same lines twice. */
  refresh(): Promise<boolean> {
    const done = this.#reading.then(() => this.#read());
    this.#reading = done.catch(() => undefined);
    return done;
  }

  async #read(): Promise<boolean> {
    const entries = await this.#reader.read();
    this.#text.add(entries);
    return entries.length > 0;
  }

  /** Finished parts from the n-th on; what is still being written comes when it is finished. */
  finished(from: number): readonly string[] {
    return this.#text.finished(from);
  }

  toString(): string {
    const lost = this.#reader.unreadable;
    return `${this.#text}${lost > 0 ? `\n· ${lost} line(s) of this transcript could not be read.\n` : ''}`;
  }
}

/** Reading a run folder: the launch record, and the view derived from the journal. */
import { lstat } from 'node:fs/promises';
import {
  describeFaults,
  LanesError,
  type LaunchRecord,
  lanesError,
  launchRecord,
  type RunView,
  runView,
  wordsOf,
} from '../../protocol/index.ts';
import { errnoOf, readRegular } from '../files/index.ts';
import { JournalTail, type SkippedRecord } from '../journal/index.ts';
import { runLayout } from '../projects/index.ts';
import { applyLine, initialView } from './fold.ts';

/** Launch record of a run folder. Throws `run_not_found`, `run_unreadable` (naming the file) or `journal_newer`. */
export async function readLaunchRecord(directory: string): Promise<LaunchRecord> {
  const path = runLayout(directory).record;
  if (await isLink(directory)) {
    throw lanesError('run_unreadable:link', { folder: directory });
  }
  const value = await readJson(path);
  if (value === undefined) {
    if (await isMissing(directory)) throw lanesError('run_not_found:folder', { folder: directory });
    throw lanesError('run_unreadable:no-record', { file: path });
  }
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined;
  if (typeof version === 'number' && version > 1) {
    throw lanesError('journal_newer:record', { file: path, version });
  }
  const parsed = launchRecord.safeParse(value);
  if (!parsed.success) throw lanesError('run_unreadable:record', { file: path, faults: describeFaults(parsed.error) });
  return parsed.data;
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isSymbolicLink(),
    () => false,
  );
}

async function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: unknown) => errnoOf(error) === 'ENOENT',
  );
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readRegular(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw lanesError('run_unreadable:json', { file: path });
  }
}

/** `run_unreadable` for what the system refuses to read, naming it. */
export function unreadable(path: string, error: unknown): LanesError {
  if (error instanceof LanesError) return error;
  return lanesError('run_unreadable:file', { file: path, reason: wordsOf(error) }, { cause: error });
}

/** Follows one run: each `refresh` folds in what came since the last one. */
export class RunReader {
  readonly directory: string;
  readonly record: LaunchRecord;
  readonly #tail: JournalTail;
  #view: RunView;
  #generation = 0;

  private constructor(directory: string, record: LaunchRecord) {
    this.directory = directory;
    this.record = record;
    this.#tail = new JournalTail(runLayout(directory).journal);
    this.#view = initialView(record);
  }

  static async open(directory: string): Promise<RunReader> {
    const reader = new RunReader(directory, await readLaunchRecord(directory));
    await reader.refresh();
    return reader;
  }

  get view(): RunView {
    return this.#view;
  }

  /** Journal records that could not be read. */
  get skipped(): readonly SkippedRecord[] {
    return this.#tail.position().skipped;
  }

  /** Throws `run_unreadable` naming the journal. */
  async refresh(): Promise<RunView> {
    const lines = await this.#tail.read().catch((error: unknown) => {
      throw unreadable(this.#tail.path, error);
    });
    // Another journal in its place: nothing of the old one holds.
    if (this.#tail.generation !== this.#generation) this.#view = initialView(this.record);
    this.#generation = this.#tail.generation;
    for (const line of lines) this.#view = applyLine(this.#view, line);
    return this.#view;
  }
}

/** The final view a runner wrote at the end; `undefined` when the run has none or it does not parse (fold the journal). */
export async function readFinalStatus(directory: string): Promise<RunView | undefined> {
  return (await inspectFinalStatus(directory)).view;
}

/** The same, with the error naming the file when it is there and cannot be read. It is never repaired. */
export async function inspectFinalStatus(
  directory: string,
): Promise<{ view: RunView | undefined; error: LanesError | undefined }> {
  try {
    if (await isLink(directory)) return { view: undefined, error: undefined };
    const parsed = runView.safeParse(await readJson(runLayout(directory).status));
    // Another version may have written another shape: the journal tells the same.
    return { view: parsed.success ? parsed.data : undefined, error: undefined };
  } catch (error) {
    return { view: undefined, error: error instanceof LanesError ? error : undefined };
  }
}

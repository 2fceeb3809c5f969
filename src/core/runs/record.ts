/** Reading a run folder: the launch record, and the view derived from the journal. */
import { readFile } from 'node:fs/promises';
import {
  describeFaults,
  type LaunchRecord,
  lanesError,
  launchRecord,
  type RunView,
  runView,
  wordsOf,
} from '../../protocol/index.ts';
import { errnoOf } from '../files/index.ts';
import { JournalTail, type SkippedRecord } from '../journal/index.ts';
import { runLayout } from '../projects/index.ts';
import { applyLine, initialView } from './fold.ts';

/** Launch record of a run folder. Throws `run_not_found`, `run_unreadable` (naming the file) or `journal_newer`. */
export async function readLaunchRecord(directory: string): Promise<LaunchRecord> {
  const path = runLayout(directory).record;
  const value = await readJson(path);
  if (value === undefined) throw lanesError('run_not_found:folder', { folder: directory });
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined;
  if (typeof version === 'number' && version > 1) {
    throw lanesError('journal_newer:record', { file: path, version });
  }
  const parsed = launchRecord.safeParse(value);
  if (!parsed.success) throw lanesError('run_unreadable:record', { file: path, faults: describeFaults(parsed.error) });
  return parsed.data;
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw lanesError('run_unreadable:file', { file: path, reason: wordsOf(error) });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw lanesError('run_unreadable:json', { file: path });
  }
}

/** Follows one run: each `refresh` folds in what came since the last one. */
export class RunReader {
  readonly directory: string;
  readonly record: LaunchRecord;
  readonly #tail: JournalTail;
  #view: RunView;

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

  async refresh(): Promise<RunView> {
    for (const line of await this.#tail.read()) this.#view = applyLine(this.#view, line);
    return this.#view;
  }
}

/** The final view a runner wrote at the end; `undefined` when the run has none or it does not parse (fold the journal). */
export async function readFinalStatus(directory: string): Promise<RunView | undefined> {
  const value = await readJson(runLayout(directory).status).catch(() => undefined);
  const parsed = runView.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

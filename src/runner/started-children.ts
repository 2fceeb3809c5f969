/** Children that were begun, by what lies in their folders: a journal that was emptied or replaced names none. */
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { childLayout } from '../core/projects/index.ts';
import { describeError, type ErrorValue } from '../protocol/index.ts';
import type { OpenRun } from './open-run.ts';

/** Their numbers. A folder in which nothing lies is made before anything begins. */
export async function startedChildren({ layout }: OpenRun): Promise<number[]> {
  const folder = dirname(childLayout(layout.directory, 1).directory);
  const names = await readdir(folder).catch(() => []);
  const started: number[] = [];
  for (const name of names) {
    const index = Number(name);
    if (!Number.isSafeInteger(index) || index < 1) continue;
    const files = await readdir(childLayout(layout.directory, index).directory).catch(() => []);
    if (files.length > 0) started.push(index);
  }
  return started.sort((a, b) => a - b);
}

/** Why a run is not taken up again whose journal does not say that its start was confirmed. */
export async function notConfirmed(run: OpenRun): Promise<ErrorValue> {
  const started = await startedChildren(run);
  if (started.length === 0) return describeError('start_not_confirmed:cut-off');
  const { journal, directory } = run.layout;
  return describeError('run_unreadable:emptied', { file: journal, count: started.length, folder: directory });
}

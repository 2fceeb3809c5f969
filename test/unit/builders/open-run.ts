import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJournal } from '../../../src/core/journal/index.ts';
import { projectLayout } from '../../../src/core/projects/index.ts';
import type { JournalEvent, JournalLine } from '../../../src/protocol/index.ts';
import { OpenRun } from '../../../src/runner/open-run.ts';
import { aRecord } from './run.ts';

export interface RunAtWork {
  run: OpenRun;
  /** What stands in its journal after its start. */
  journal(): Promise<JournalEvent[]>;
}

/** A run that this process owns, as far as its child has been asked. */
export async function openRun(projectDirectory: string): Promise<RunAtWork> {
  const project = projectLayout(projectDirectory);
  for (const folder of [project.runs, project.active]) await mkdir(folder, { recursive: true });
  const record = aRecord();
  const log = join(projectDirectory, 'runner.log');
  await writeFile(log, '');
  const run = await OpenRun.create(
    { kind: 'new', runId: record.runId, projectDirectory, address: '/nowhere.sock', token: 'secret', log },
    record,
  );
  await run.append({ type: 'run.proceeded' });
  const before = run.seq;
  return {
    run,
    async journal() {
      const { lines } = await readJournal(run.layout.journal);
      return lines.filter(({ seq }) => seq > before).map(eventOf);
    },
  };
}

function eventOf({ seq: _, t: __, ...event }: JournalLine): JournalEvent {
  return event;
}

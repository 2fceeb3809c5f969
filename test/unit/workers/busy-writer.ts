/**
 * Writes a run as fast as it can: events into its journal and its view into its status, again and again. Usage:
 * `busy-writer <folder> <rounds>`.
 */
import { writeFileAtomic } from '../../../src/core/files/index.ts';
import { JournalWriter } from '../../../src/core/journal/index.ts';
import { runLayout } from '../../../src/core/projects/index.ts';
import { applyLine, initialView, readLaunchRecord } from '../../../src/core/runs/index.ts';
import { NO_USAGE } from '../../../src/protocol/index.ts';

const [folder = '', rounds = '0'] = process.argv.slice(2);
const layout = runLayout(folder);
let view = initialView(await readLaunchRecord(folder));
const journal = await JournalWriter.open(layout.journal, {
  onAppended: (line) => {
    view = applyLine(view, line);
  },
});
for (let round = 1; round <= Number(rounds); round++) {
  const progress = {
    type: 'child.progress',
    child: 1,
    phase: 'tool',
    turns: round,
    toolCalls: 0,
    usage: NO_USAGE,
  } as const;
  const texts = Array.from({ length: 20 }, (_, i) => ({ ...progress, tool: `${round}-${i} ${'漢'.repeat(500)}` }));
  await journal.append(texts, { sync: round % 10 === 0 });
  await writeFileAtomic(layout.status, `${JSON.stringify(view)}\n`);
}
await journal.close();

/**
 * Appends to a journal until the file size limit of this process stops it (a disk that is full takes a part of a write
 * first, just as the limit does), lifts the limit and appends more. Prints which appends were acknowledged.
 */
import { execFileSync } from 'node:child_process';
import { JournalWriter } from '../../../src/core/journal/index.ts';

const journal = await JournalWriter.open(process.argv[2] ?? '');
const acknowledged: number[] = [];
let refused = 0;
for (let i = 0; i < 20; i++) {
  try {
    await journal.append([{ type: 'child.stdout', child: 1, text: `${i} ${'x'.repeat(1000)}` }], { sync: true });
    acknowledged.push(i);
  } catch {
    refused++;
    if (refused === 2) execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited']);
  }
}
await journal.close();
process.stdout.write(JSON.stringify({ acknowledged, refused }));

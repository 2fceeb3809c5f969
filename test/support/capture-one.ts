/** A process of its own that keeps a worktree: `node capture-one.ts <folder of captures> <lock> <file with the record>`. */
import { readFile } from 'node:fs/promises';
import { Git, RepositoryLock } from '../../src/core/git/index.ts';
import { captureWorktree } from '../../src/core/worktrees/index.ts';
import { worktreeRecord } from '../../src/protocol/index.ts';

const [directory = '', lock = '', recordPath = ''] = process.argv.slice(2);
const record = worktreeRecord.parse(JSON.parse(await readFile(recordPath, 'utf8')));
const git = await Git.find({ cwd: record.path });
await captureWorktree(directory, record, { git, lock: new RepositoryLock(lock) });

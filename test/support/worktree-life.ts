/**
 * A process of its own that makes a worktree, works in it, keeps it and removes it, and writes down how far it came:
 * `node worktree-life.ts <repository> <store> <git> <child> <journal>`.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Git, RepositoryLock } from '../../src/core/git/index.ts';
import { allocateWorktrees, captureWorktree, checkSources, removeWorktree } from '../../src/core/worktrees/index.ts';
import { commitAll, write } from './repository.ts';
import { RUN } from './worktrees.ts';

const [path = '', store = '', file = '', child = '1', journalPath = ''] = process.argv.slice(2);
const told = async (event: object) => appendFileSync(journalPath, `${JSON.stringify(event)}\n`);
const journal = {
  planned: async (plan: object) => told({ planned: plan }),
  made: async (record: object) => told({ made: record }),
  provisioned: async (record: object) => told({ made: record }),
  undone: async (plan: object, left: object) => told({ undone: plan, left }),
};
// The git of the test ends this process, and no other that may be its parent by then.
writeFileSync(`${journalPath}.pid`, String(process.pid));
const git = await Git.find({ file, cwd: store });
const lock = new RepositoryLock(join(store, 'repository'));
const [source] = await checkSources(git, [{ key: 'life', cwd: path }]);
if (!source) throw new Error('no source');
const requests = [{ source, runId: RUN, child: Number(child), label: 'life' }];
const [record] = await allocateWorktrees({ git, lock, journal }, requests);
if (!record) throw new Error('no worktree');
await write(record.path, { 'committed.txt': 'committed' });
await commitAll(record.path, 'work');
await write(record.path, { 'a.txt': 'changed', 'new ü.txt': 'new', 'debug.log': 'log' });
await told({ worked: true });
const kept = await captureWorktree(join(store, 'captures', child), record, { git, lock });
await told({ captured: kept });
await told({ removed: await removeWorktree(record, kept, { git, lock }) });

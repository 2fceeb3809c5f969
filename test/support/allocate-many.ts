/** A process of its own that makes worktrees: `node allocate-many.ts <repository> <store> <run id> <count>`. Prints their records. */
import { join } from 'node:path';
import { Git, RepositoryLock } from '../../src/core/git/index.ts';
import { allocateWorktrees, checkSources } from '../../src/core/worktrees/index.ts';

const [path = '', store = '', runId = '', count = '0'] = process.argv.slice(2);
const git = await Git.find({ cwd: store });
const lock = new RepositoryLock(join(store, 'repository'));
const nothing = async () => {};
const journal = { planned: nothing, made: nothing, provisioned: nothing, undone: nothing };
const [source] = await checkSources(git, [{ key: 'one', cwd: path }]);
if (!source) throw new Error('no source');
const one = (child: number) =>
  allocateWorktrees({ git, lock, journal }, [{ source, runId, child, label: 'many' }]).then(([record]) => record);
const records = await Promise.all(Array.from({ length: Number(count) }, (_, n) => one(n + 1)));
process.stdout.write(JSON.stringify(records));

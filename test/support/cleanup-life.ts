/**
 * A process of its own that removes a kept worktree and brings it back, and dies at a call of git that the git of the test chooses:
 * `node cleanup-life.ts <git> <lock> <ledger> <run> <journal>`.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { Git, RepositoryLock } from '../../src/core/git/index.ts';
import { Ledger, removeTracked, restoreTracked } from '../../src/core/worktrees/index.ts';

const [file = '', lockPath = '', directory = '', runId = '', journal = ''] = process.argv.slice(2);
// The git of the test ends this process, and no other that may be its parent by then.
writeFileSync(`${journal}.pid`, String(process.pid));
const git = await Git.find({ file, cwd: '/' });
const lock = new RepositoryLock(lockPath);
const ledger = new Ledger(directory);
const id = { runId, child: 1 };
const told = (event: object) => appendFileSync(journal, `${JSON.stringify(event)}\n`);
const common = { git, lock, ledger };
told({
  removed: await removeTracked(id, { ...common, handOver: async () => undefined, livenessOf: async () => 'ended' }),
});
told({ restored: (await restoreTracked(id, common)).warnings });

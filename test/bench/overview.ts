/** What it takes to see 200 worktrees, each with a run, a commit and a capture of its own. Prints one line of JSON. */
import { readOverview } from '../../src/client/index.ts';
import { commitAll, write } from '../support/repository.ts';
import { tempDir } from '../support/temp.ts';
import { WorktreeProject } from '../support/worktree-project.ts';

const COUNT = 200;
const ROUNDS = 5;

const folder = await tempDir();
try {
  const project = await WorktreeProject.make(folder.path);
  for (let n = 0; n < COUNT; n++) {
    const tree = await project.make(`lane ${n}`);
    await write(tree.path, { 'a.txt': `${n}\n` });
    await commitAll(tree.path, `work ${n}`);
    await project.finish(tree);
  }
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    const [group] = await readOverview(project.store);
    times.push(performance.now() - from);
    const own = group?.worktrees.filter(({ ahead, changed }) => ahead === 1 && changed === 1).length;
    if (own !== COUNT) throw new Error(`${own} of ${COUNT} were seen whole`);
  }
  times.sort((a, b) => a - b);
  const [first = 0] = times;
  console.log(JSON.stringify({ median: Math.round(times[ROUNDS >> 1] ?? 0), best: Math.round(first) }));
} finally {
  await folder.remove();
}

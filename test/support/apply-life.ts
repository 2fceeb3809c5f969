/**
 * A process of its own that brings work into a checkout, or takes it back, and dies before one step of that:
 * `node apply-life.ts <apply|undo> <step> <applications> <root> <base> <tree> <scratch>`.
 */
import { Git } from '../../src/core/git/index.ts';
import { forecast, listApplications, undoApplication, writeApplication } from '../../src/core/worktrees/index.ts';
import { RUN } from './worktrees.ts';

const [what = '', deadly = '', folder = '', root = '', base = '', tree = '', scratch = ''] = process.argv.slice(2);
const atStep = (step: string) => {
  process.stdout.write(`${step}\n`);
  if (step === deadly) process.kill(process.pid, 'SIGKILL');
};
if (what === 'apply') {
  const git = await Git.find({ cwd: scratch });
  const { outcomes } = await forecast(git, { root, base, tree, scratch });
  await writeApplication(folder, root, { runId: RUN, child: 1 }, outcomes, { atStep });
} else {
  const [application] = await listApplications(folder, root);
  if (application) await undoApplication(folder, application, atStep);
}

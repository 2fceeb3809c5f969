/**
 * Which project a folder belongs to. One repository is one project, whatever worktree, subfolder or window it is seen
 * from; outside git the project is the nearest folder with Pi resources, else the folder itself.
 */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { lanesError } from '../../protocol/index.ts';
import { errnoOf, makePrivateFolder, readRegular, writeFileAtomic } from '../files/index.ts';
import { gitEnvironment } from '../git/index.ts';
import { runCommand } from '../processes/index.ts';
import { type ProjectLayout, projectLayout, rootLayout } from './layout.ts';

export interface Project {
  /** `<slug>-<16 hex>`: the name of the project's folder in the store. */
  name: string;
  kind: 'git' | 'folder';
  /** The git common folder, or the project root outside git. Real path. */
  key: string;
  /** What people call it: the repository's or the folder's own name. */
  title: string;
  layout: ProjectLayout;
}

const projectRecord = z.object({
  version: z.literal(1),
  kind: z.enum(['git', 'folder']),
  key: z.string(),
  title: z.string(),
  /** Keys this project had before it was moved. */
  formerKeys: z.array(z.string()),
});

/**
 * @param folder an existing folder
 * @param fallbackRoot project root to use when the folder is in no repository (a workspace folder of the editor)
 */
export async function findProject(agentDir: string, folder: string, fallbackRoot?: string): Promise<Project> {
  const real = await realpath(folder);
  const common = await gitCommonFolder(real);
  if (common !== undefined) {
    const title = basename(common) === '.git' ? basename(dirname(common)) : basename(common).replace(/\.git$/, '');
    return describe(agentDir, 'git', common, title);
  }
  const root = fallbackRoot === undefined ? await resourceRoot(real) : await realpath(fallbackRoot);
  return describe(agentDir, 'folder', root, basename(root) || 'root');
}

function describe(agentDir: string, kind: Project['kind'], key: string, title: string): Project {
  const slug = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 40);
  const name = `${slug || 'project'}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
  return { name, kind, key, title, layout: projectLayout(join(rootLayout(agentDir).projects, name)) };
}

async function gitCommonFolder(folder: string): Promise<string | undefined> {
  // Starting git costs milliseconds; outside every repository there is no need to.
  if (!(await hasGitAbove(folder))) return undefined;
  const result = await runCommand(
    { file: 'git', args: ['-C', folder, 'rev-parse', '--git-common-dir'] },
    { env: gitEnvironment(), timeoutMs: 10_000 },
  );
  // Relative to the folder: git before 2.31 cannot be asked for an absolute path.
  if (result.exitCode === 0) return realpath(resolve(folder, result.stdout.replace(/\r?\n$/, '')));
  // With a path behind it, a worktree or submodule has lost its repository: that is no folder outside git.
  if (result.failed === undefined && /not a git repository \(or any/.test(result.stderr)) return undefined;
  const said = (result.stderr.trim() || result.message).split('\n')[0];
  throw lanesError('project_unreadable', { folder, reason: said ?? '' });
}

async function hasGitAbove(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const names = [join(at, '.git'), join(at, 'HEAD')];
    for (const name of names) if (await exists(name)) return true;
    if (dirname(at) === at) return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The nearest ancestor with `.pi` or `.agents`, the home folder itself left out; else the folder. */
async function resourceRoot(folder: string): Promise<string> {
  const home = await realpath(homedir()).catch(() => resolve(homedir()));
  for (let at = folder; dirname(at) !== at && at !== home; at = dirname(at)) {
    if ((await exists(join(at, '.pi'))) || (await exists(join(at, '.agents')))) return at;
  }
  return folder;
}

/** Creates the project's folders on first use. Safe when several processes do it at once. */
export async function ensureProject(project: Project): Promise<void> {
  const { layout } = project;
  await Promise.all([layout.runs, layout.active, layout.starting].map(makePrivateFolder));
  const known = await readRegular(layout.identity).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (known !== undefined) return;
  const record: z.infer<typeof projectRecord> = {
    version: 1,
    kind: project.kind,
    key: project.key,
    title: project.title,
    formerKeys: [],
  };
  await writeFileAtomic(layout.identity, `${JSON.stringify(record, null, 2)}\n`);
}

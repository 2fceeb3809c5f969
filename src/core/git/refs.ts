import type { Git } from './git.ts';

/** A branch or a tag, by the name that git is asked for it with. */
export interface NamedRef {
  kind: 'branch' | 'remote' | 'tag';
  /** Short; in full where a branch and a tag have the same one. */
  name: string;
}

const MAX_REFS = 500;
const KINDS = [
  ['refs/heads/', 'branch'],
  ['refs/remotes/', 'remote'],
  ['refs/tags/', 'tag'],
] as const;

/** The branches and tags of a repository, those changed last first; of very many the newest. */
export async function listRefs(git: Git, folder: string): Promise<NamedRef[]> {
  const asked = ['for-each-ref', '--sort=-creatordate', `--count=${MAX_REFS}`, '--format=%(refname)'];
  const { stdout } = await git.run(folder, [...asked, ...KINDS.map(([prefix]) => prefix)]);
  const full = stdout.toString('utf8').split('\n');
  const refs = full.flatMap((ref) =>
    KINDS.flatMap(([prefix, kind]) => (ref.startsWith(prefix) ? [{ kind, ref, name: ref.slice(prefix.length) }] : [])),
  );
  const count = new Map<string, number>();
  for (const { name } of refs) count.set(name, (count.get(name) ?? 0) + 1);
  return refs
    .filter(({ kind, name }) => kind !== 'remote' || !name.endsWith('/HEAD'))
    .map(({ kind, ref, name }) => ({ kind, name: (count.get(name) ?? 0) > 1 ? ref : name }));
}

/** The branch that HEAD stands on, short; `undefined`: on none. */
export function headBranch(git: Git, folder: string): Promise<string | undefined> {
  return git.lineIfAny(folder, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
}

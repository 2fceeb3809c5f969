/** What the branch and the folder of a worktree are called. */

export const BRANCH_PREFIX = 'pi-lanes/';
const MAX_LABEL = 32;
const MAX_BRANCH = 256;

/**
 * A name no branch has yet, also where upper and lower case are one. It is short, because every path in the worktree begins with it.
 *
 * @param label what the child is called
 * @param taken short names of all branches
 */
export function nameWorktree(
  child: { label: string; runId: string; child: number },
  taken: Iterable<string>,
  prefix: string = BRANCH_PREFIX,
): { branch: string; leaf: string } {
  const known = new Set([...taken].map((name) => name.toLowerCase()));
  const leaf = `${slugOf(child.label)}-${child.runId.slice(-8)}-${child.child}`;
  // A branch `pi-lanes` leaves no room for any below `pi-lanes/`.
  const folders = prefix.split('/').slice(0, -1);
  const blocked = folders.some((_, count) =>
    known.has(
      folders
        .slice(0, count + 1)
        .join('/')
        .toLowerCase(),
    ),
  );
  const start = (blocked ? prefix.replaceAll('/', '-') : prefix).slice(0, MAX_BRANCH - leaf.length - 5);
  for (let again = 1; ; again++) {
    const name = again === 1 ? leaf : `${leaf}-${again}`;
    const branch = `${start}${name}`;
    const inTheWay =
      known.has(branch.toLowerCase()) || [...known].some((one) => one.startsWith(`${branch.toLowerCase()}/`));
    if (!inTheWay) return { branch, leaf: name };
  }
}

function slugOf(label: string): string {
  const slug = label
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, MAX_LABEL)
    .replace(/^-+|-+$/g, '');
  return slug || 'child';
}

/** What a person who may give an agent a worktree is told beforehand. Nothing is changed. */
import { Git, headBranch, listRefs, type NamedRef } from '../core/git/index.ts';
import { checkSources } from '../core/worktrees/index.ts';
import { type ErrorValue, LanesError } from '../protocol/index.ts';
import type { Toolbox } from './toolbox.ts';

export interface WorktreeOffer {
  /** Why none can be made there now; null: one can. */
  refusal: ErrorValue | null;
  /** The branch that `HEAD` stands on; null: on none, or that could not be told. */
  head: string | null;
  /** What it could start from instead, changed last first. */
  refs: NamedRef[];
}

/**
 * @param cwd an existing folder
 * @param name whom it is for, in words of a refusal
 * @param baseRef what it is to start from; absent: `HEAD`
 */
export async function offerWorktree(
  toolbox: Toolbox,
  cwd: string,
  name: string,
  baseRef?: string,
): Promise<WorktreeOffer> {
  try {
    const git = await Git.find({ env: toolbox.env, cwd });
    const { folder, refused = [], setupHook } = await toolbox.worktreeSettings();
    const options = { baseRef, folder, refused, setupHook: setupHook?.path };
    const refusal = await checkSources(git, [{ key: name, cwd }], options).then(() => null, asRefusal);
    // Where there is no repository there is nothing to ask for.
    if (refusal?.text === 'worktree_refused:no-repository') return { refusal, head: null, refs: [] };
    const [head, refs] = await Promise.all([
      headBranch(git, cwd).catch(() => undefined),
      listRefs(git, cwd).catch(() => []),
    ]);
    return { refusal, head: head ?? null, refs };
  } catch (error) {
    return { refusal: asRefusal(error), head: null, refs: [] };
  }
}

function asRefusal(error: unknown): ErrorValue {
  if (error instanceof LanesError) return error.toValue();
  throw error;
}

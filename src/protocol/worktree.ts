/** Worktrees of children as records: what is to be made, what was made, what was kept of it. */
import * as z from 'zod/mini';
import { errorValue } from './errors.ts';

const hash = z.string().check(z.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/));

/** How the worktrees of a run are made: what stands in settings, read by whoever starts it. */
export const worktreeSettings = z.object({
  /** Folder for worktrees: absolute, `~/…`, or relative to the main checkout; absent: `<repository>.worktrees` beside it. */
  folder: z.optional(z.string()),
  /** Folders in which none may be: those Pi loads extensions from. */
  refused: z.optional(z.array(z.string())),
  /** Patterns of `.gitignore` of ignored files to copy. */
  copies: z.optional(z.array(z.string())),
  /** Ignored folders to link to, relative to the root; absent: those of dependencies. */
  links: z.optional(z.array(z.string())),
  /** Program that makes a worktree ready. */
  setupHook: z.optional(z.object({ path: z.string(), timeoutMs: z.optional(z.number()) })),
});
export type WorktreeSettings = z.infer<typeof worktreeSettings>;

/** That a child gets a worktree of its own. */
export const worktreeWish = z.object({
  /** The branch or tag it starts from, resolved when it is made; absent: `HEAD`. */
  baseRef: z.optional(z.string()),
});
export type WorktreeWish = z.infer<typeof worktreeWish>;

/** What git is about to be asked for. Written down before it is. */
export const worktreePlan = z.object({
  version: z.literal(1),
  runId: z.string(),
  /** Number of the child, from 1. */
  child: z.number(),
  /** The git common folder, real path. */
  repository: z.string(),
  /** Top folder of the checkout it is made from, real path. */
  root: z.string(),
  path: z.string(),
  /** Where the child works: the path, or the subfolder of it that the launch came from. */
  folder: z.string(),
  /** Short name. Neither branch nor path were there when this was planned. */
  branch: z.string(),
  /** The commit it starts from. */
  base: hash,
});
export type WorktreePlan = z.infer<typeof worktreePlan>;

/** A worktree that is there. */
export const worktreeRecord = z.extend(worktreePlan, {
  /** Git's own folder of this worktree, which tells it from another one at the same path. */
  gitFolder: z.string(),
  /** Epoch milliseconds. */
  madeAt: z.number(),
  /**
   * What was put there besides the checkout, and is nobody's work: with `link` only while it is a link, with `digest` (SHA-256)
   * only while it has this content.
   */
  synthetic: z.array(z.object({ path: z.string(), link: z.optional(z.boolean()), digest: z.optional(z.string()) })),
  warnings: z.array(errorValue),
});
export type WorktreeRecord = z.infer<typeof worktreeRecord>;

/** A file that is in no commit and no patch: ignored by git, hidden from it, or changed by its filters. */
export const outsideFile = z.object({
  /** Relative, with `/`. */
  path: z.string(),
  /** The bytes of a path that is not UTF-8, in Base64. */
  raw: z.optional(z.string()),
  kind: z.enum(['file', 'link', 'filtered']),
  bytes: z.number(),
  /** SHA-256 of the content, or of the target of a link. */
  digest: z.string(),
});
export type OutsideFile = z.infer<typeof outsideFile>;

/** Name of the patch of a capture, beside its `capture.json`. */
export const PATCH_NAME = 'changes.patch';

/** A difference of two trees as a file. */
export const keptPatch = z.object({
  /** Relative: to the folder of the capture, in a handoff to that of the run. */
  path: z.string(),
  bytes: z.number(),
  /** SHA-256 */
  digest: z.string(),
  files: z.number(),
  insertions: z.number(),
  deletions: z.number(),
});

/** What was kept of a worktree. Paths of files are relative to the folder of the capture. */
export const worktreeCapture = z.object({
  version: z.literal(1),
  base: hash,
  /** Tree of all files that git takes. */
  tree: hash,
  /** Tree of what was staged, where that is not the tree of the files; it is kept with the commits. */
  staged: z.optional(hash),
  /** Where HEAD stood; absent: on a branch without a commit. */
  head: z.optional(hash),
  /** Name of the branch HEAD stood on; absent: on none. */
  branch: z.optional(z.string()),
  changed: z.boolean(),
  /** A commit of the tree whose ancestors are all commits that were made; absent when nothing was. */
  kept: z.optional(z.object({ ref: z.string(), commit: hash })),
  /** Commits made since the base, on whatever branch, and put away in stashes. */
  commits: z.number(),
  /** Tips of what is kept besides HEAD: other branches that were worked on, stashes, what HEAD was moved away from. */
  tips: z.array(z.object({ commit: hash, name: z.string() })),
  /** The difference of base and tree, proven to give the tree; absent when they are equal. */
  patch: z.optional(keptPatch),
  /** Files outside of the tree. All of them stand in `files.json`, their content in `files/`. */
  outside: z.object({ files: z.number(), bytes: z.number(), listed: z.array(outsideFile) }),
  /** Left out, because a pattern says that it can be made again. */
  disposable: z.object({ files: z.number(), listed: z.array(z.string()) }),
  /** Why the worktree must stay although all of this was kept: what no capture can hold. */
  blockers: z.array(errorValue),
});
export type WorktreeCapture = z.infer<typeof worktreeCapture>;

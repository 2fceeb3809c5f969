export * from './environment.ts';
export * from './git.ts';
export * from './refs.ts';
export * from './repository-lock.ts';
export * from './worktree-list.ts';

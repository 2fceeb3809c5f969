export * from './allocate.ts';
export * from './capture.ts';
export { DISPOSABLE } from './disposable.ts';
export { identityFault } from './identity.ts';
export { keptRef } from './keep.ts';
export type { KeptCapture } from './kept-capture.ts';
export { BRANCH_PREFIX, nameWorktree } from './names.ts';
export * from './remove.ts';
export * from './source.ts';

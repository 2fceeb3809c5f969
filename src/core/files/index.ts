export * from './atomic-write.ts';
export * from './capacity.ts';
export * from './make-folders.ts';
export * from './private-folder.ts';
export * from './regular-file.ts';

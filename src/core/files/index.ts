export * from './atomic-write.ts';
export * from './private-folder.ts';

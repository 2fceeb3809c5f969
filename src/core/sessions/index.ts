export * from './foreign-writer.ts';
export * from './session-file.ts';
export * from './session-lease.ts';

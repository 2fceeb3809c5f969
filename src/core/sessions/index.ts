export * from './session-file.ts';
export * from './session-lease.ts';

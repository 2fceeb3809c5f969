export * from './errors.ts';
export * from './events.ts';
export * from './lease.ts';
export * from './rpc.ts';
export * from './run.ts';
export * from './transcript.ts';
export * from './usage.ts';
export * from './view.ts';

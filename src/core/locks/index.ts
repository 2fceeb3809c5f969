export * from './idle-locks.ts';
export * from './lock.ts';

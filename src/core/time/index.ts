export * from './alive-clock.ts';
export * from './in-time.ts';

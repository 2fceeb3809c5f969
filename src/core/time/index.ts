export * from './alive-clock.ts';

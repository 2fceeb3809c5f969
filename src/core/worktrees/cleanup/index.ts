export * from './conditions.ts';
export * from './plan-store.ts';
export * from './verdict.ts';

export * from './evidence.ts';
export * from './evidence-store.ts';
export * from './handoff.ts';
export * from './kept-refs.ts';
export * from './ledger.ts';
export * from './recovery.ts';
export * from './removal.ts';
export * from './users.ts';

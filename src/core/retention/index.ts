export { CLEANER_MS, type CleaningReport, cleanStore, PASS_LIMIT } from './cleaning.ts';
export { describeReason, KEEP_REASONS, type KeepReason, type Kept } from './keep-reason.ts';
export { findUnusedRuntimes } from './unused-runtimes.ts';

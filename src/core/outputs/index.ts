export * from './output-file.ts';
export * from './truncate.ts';

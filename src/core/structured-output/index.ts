export * from './kept-value.ts';
export * from './output-schema.ts';

export * from './known-models.ts';
export * from './registry.ts';

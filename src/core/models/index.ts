export * from './known-models.ts';
export * from './model-choice.ts';
export * from './model-exclusions.ts';
export * from './model-scope.ts';
export * from './model-settings.ts';
export * from './registry.ts';
export * from './resolve-model.ts';
export * from './thinking-level.ts';

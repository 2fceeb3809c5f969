export * from './layout.ts';
export * from './project.ts';

export * from './fold.ts';
export * from './ids.ts';
export * from './proof.ts';
export * from './record.ts';
export * from './recovery.ts';
export * from './runner-log.ts';
export * from './session-name.ts';
export * from './workflow-graph.ts';

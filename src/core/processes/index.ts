export * from './environment.ts';
export * from './identity.ts';
export * from './spawn.ts';
export * from './tree.ts';
export * from './whole-command.ts';

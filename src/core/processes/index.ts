export * from './environment.ts';
export * from './identity.ts';
export * from './others.ts';
export * from './shell.ts';
export * from './spawn.ts';
export * from './systemd-scope.ts';
export * from './tree.ts';
export * from './whole-command.ts';

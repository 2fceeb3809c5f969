export * from './install-pi.ts';
export * from './node.ts';
export * from './npm.ts';
export * from './pi.ts';
export * from './probe-cache.ts';
export * from './version.ts';

export * from './node.ts';
export * from './pi.ts';
export * from './probe-cache.ts';
export * from './version.ts';

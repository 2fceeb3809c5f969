export * from './address.ts';
export * from './peer.ts';

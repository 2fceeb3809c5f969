export { CappedLog } from './capped-log.ts';
export { MirrorReader } from './mirror-reader.ts';
export { MirrorWriter } from './mirror-writer.ts';
export * from './panel/index.ts';
export { LineRedaction, redact } from './redact.ts';
export { TranscriptText, visible } from './render.ts';

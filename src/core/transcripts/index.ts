// Moved to where the pages see it too.
export { visible } from '../../protocol/index.ts';
export { CappedLog } from './capped-log.ts';
export { MirrorReader } from './mirror-reader.ts';
export { MirrorWriter } from './mirror-writer.ts';
export { LineRedaction, redact } from './redact.ts';
export { TranscriptText } from './render.ts';

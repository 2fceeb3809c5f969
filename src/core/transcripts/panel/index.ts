export type { Changes } from './changes.ts';
export { MAX_HITS } from './find.ts';
export type { PageLimits } from './pages.ts';
export type { SessionWords } from './session-items.ts';
export {
  type FindProgress,
  type SourceOptions,
  type SourceSnapshot,
  type SourceUpdate,
  TranscriptSource,
} from './source.ts';

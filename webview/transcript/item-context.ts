/** What the drawing of items needs from the page around them. */
import type { TranscriptWord } from '../../src/protocol/index.ts';
import type { Words } from '../shared/words.ts';
import type { Bodies } from './bodies.ts';
import type { Folds } from './folds.ts';
import type { Highlighter } from './highlight.ts';

export interface ItemContext {
  readonly words: Words<TranscriptWord>;
  readonly folds: Folds;
  readonly bodies: Bodies;
  readonly highlighter: Highlighter;
  /** The other source of the transcript can be shown instead. */
  readonly otherSource: boolean;
  /** Folds or unfolds a part of an item. */
  setOpen(key: string, part: string, open: boolean): void;
  openFile(path: string, line: number | null): void;
  openBody(ref: string, title: string): void;
  command(name: 'open-text' | 'switch-source'): void;
}

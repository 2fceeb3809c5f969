/** The two kinds of files a transcript is read from. */
import type { SourceFile } from '../../../protocol/index.ts';
import { type Branch, EVERYTHING, SessionBranch } from './branch.ts';
import type { FileLine } from './file-lines.ts';
import { decoded, type GlanceAt, glanceAtMirror, glanceAtSession } from './glance.ts';
import type { Group } from './group.ts';
import { addMirrorLine, mirrorText, readMirrorLine, streamedText } from './mirror-items.ts';
import { type FindParts, type Parts, type PlacedLine, partsOfFile, partsOfMirror } from './parts.ts';
import type { RefTarget } from './places.ts';
import { readSessionEntry } from './session-entry.ts';
import { addSessionLine, type SessionWords, sessionText } from './session-items.ts';

export interface Format {
  /** In front of every key of its items. */
  prefix: string;
  findParts: FindParts;
  glance: GlanceAt;
  branch(parts: Parts): Branch;
  add(group: Group, line: PlacedLine): void;
  /** The whole text that a reference names, out of its line; undefined: it is not there. */
  text(line: FileLine, target: RefTarget): string | undefined;
  /** The piece of a streamed text that a line holds; null: the stream is over. */
  streamed(line: PlacedLine, target: Extract<RefTarget, { kind: 'stream' }>): string | null;
}

function mirrorFormat(path: string): Format {
  return {
    prefix: 'm',
    findParts: partsOfMirror(path),
    glance: glanceAtMirror,
    branch: () => EVERYTHING,
    add: addMirrorLine,
    text(line, target) {
      const entry = readMirrorLine({ place: { part: 0, offset: 0 }, next: { part: 0, offset: 0 }, line });
      return entry && mirrorText(entry, target);
    },
    streamed(line, target) {
      const entry = readMirrorLine(line);
      return entry ? streamedText(entry, target) : '';
    },
  };
}

function sessionFormat(path: string, words: SessionWords): Format {
  return {
    prefix: 's',
    findParts: partsOfFile(path),
    glance: glanceAtSession,
    branch: (parts) => new SessionBranch(parts, glanceAtSession),
    add(group, line) {
      if (line.place.offset === 0 && line.line?.data) {
        const first = readSessionEntry(decoded(line.line));
        if (first && (first === 'unknown' || first.type !== 'session')) group.headless(line.place);
      }
      addSessionLine(group, line, words);
    },
    text(line, target) {
      const entry = readSessionEntry(decoded(line));
      return entry && entry !== 'unknown' ? sessionText(entry, target) : undefined;
    },
    streamed: () => null,
  };
}

export function formatOf({ kind, path }: SourceFile, words: SessionWords): Format {
  return kind === 'mirror' ? mirrorFormat(path) : sessionFormat(path, words);
}

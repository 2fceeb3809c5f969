/**
 * Which entries of a session belong to the conversation as it stands: from the last entry of the file along `parentId`.
 * Found by reading backward, only as far as somebody asks. Entries without an id belong to it always; where the chain is
 * broken (an entry was lost), everything in front of the break does.
 */
import type { GlanceAt } from './glance.ts';
import type { Parts } from './parts.ts';
import type { Place } from './places.ts';

export interface Branch {
  /** Resolves when `on` can be asked for everything from this place on. */
  reach(place: Place, signal?: AbortSignal): Promise<void>;
  on(place: Place): boolean;
  /** Takes one more entry at the end. False: the conversation has gone back and on from an earlier entry. */
  append(id: string | undefined, parentId: string | undefined): boolean;
}

/** Of files that hold one conversation from begin to end. */
export const EVERYTHING: Branch = { reach: async () => undefined, on: () => true, append: () => true };

type Wanted =
  /** The last entry, whichever it is. */
  | { kind: 'leaf' }
  | { kind: 'id'; id: string }
  /** The chain has ended: what has an id is of another tree. */
  | { kind: 'others' }
  /** The chain is broken: everything belongs to it. */
  | { kind: 'everything' };

export class SessionBranch implements Branch {
  readonly #parts: Parts;
  readonly #glance: GlanceAt;
  /** Offsets between which entries are off the branch, the last ones first. */
  readonly #offStarts: number[] = [];
  readonly #offEnds: number[] = [];
  /** Everything from here on has been walked. */
  #frontier: number;
  #wanted: Wanted = { kind: 'leaf' };
  #leaf: string | undefined;
  #walking: Promise<void> = Promise.resolve();

  /** @param parts up to the end of the last entry that counts */
  constructor(parts: Parts, glance: GlanceAt) {
    this.#parts = parts;
    this.#glance = glance;
    this.#frontier = parts.end.offset;
  }

  reach(place: Place, signal?: AbortSignal): Promise<void> {
    const walked = this.#walking.then(() => this.#walk(place, signal));
    this.#walking = walked.catch(() => undefined);
    return walked;
  }

  on({ offset }: Place): boolean {
    // The ranges are in falling order: the first one that begins at or before the offset is the one it could be in.
    let low = 0;
    let high = this.#offStarts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#offStarts[middle] ?? 0) <= offset) high = middle;
      else low = middle + 1;
    }
    const end = this.#offEnds[low];
    return end === undefined || offset >= end;
  }

  append(id: string | undefined, parentId: string | undefined): boolean {
    if (id === undefined) return true;
    const follows = this.#leaf === undefined || parentId === this.#leaf;
    if (follows) this.#leaf = id;
    return follows;
  }

  async #walk(place: Place, signal: AbortSignal | undefined): Promise<void> {
    if (this.#wanted.kind === 'everything' || this.#frontier <= place.offset) return;
    /** Ranges that are off the branch if the wanted entry is found in front of them; the last ones first. */
    let off: { start: number; end: number; closed: boolean }[] = [];
    for await (const lines of this.#parts.backward({ part: 0, offset: this.#frontier })) {
      signal?.throwIfAborted();
      for (const { place: at, next, line } of lines) {
        if (!line) continue;
        const { id, parentId } = this.#glance(line);
        const last = off.at(-1);
        if (id === undefined) {
          // Damage may be of any branch: it is shown.
          if (last) last.closed = true;
        } else if (this.#isWanted(id)) {
          this.#leaf ??= id;
          this.#commit(off);
          off = [];
          this.#wanted = parentId === undefined ? { kind: 'others' } : { kind: 'id', id: parentId };
        } else if (last && !last.closed) last.start = at.offset;
        else off.push({ start: at.offset, end: next.offset, closed: false });
        if (off.length === 0) this.#frontier = at.offset;
      }
      if (this.#wanted.kind === 'others') {
        this.#commit(off);
        off = [];
        this.#frontier = lines.at(-1)?.place.offset ?? 0;
      }
      if (off.length === 0 && this.#frontier <= place.offset) return;
    }
    // The begin, and the wanted entry is not there: what seemed to be another branch is all there is of this one.
    this.#frontier = 0;
    this.#wanted = { kind: 'everything' };
  }

  #isWanted(id: string): boolean {
    return this.#wanted.kind === 'leaf' || (this.#wanted.kind === 'id' && this.#wanted.id === id);
  }

  #commit(ranges: readonly { start: number; end: number }[]): void {
    for (const { start, end } of ranges) {
      this.#offStarts.push(start);
      this.#offEnds.push(end);
    }
  }
}

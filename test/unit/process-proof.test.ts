/** Whether it is certain that no process of a run can still write. */
import { describe, expect, it } from 'vitest';
import { describeProof, foldRun, processProof } from '../../src/core/runs/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
import { oneOfEach } from './builders/events.ts';
import { aRecord, ended, lines } from './builders/run.ts';

const proof = (...events: JournalEvent[]) => processProof(foldRun(aRecord(), lines(events)));
const spawned = (attempt: number): JournalEvent => ({ ...oneOfEach['child.spawned'], attempt });
const intended = (attempt: number): JournalEvent => ({ ...oneOfEach['child.spawn.intended'], attempt });
const failedToStart = (attempt: number): JournalEvent => ({ ...oneOfEach['child.spawn.failed'], attempt });
const gone = (attempt: number, tree: 'gone' | 'unknown' = 'gone'): JournalEvent => ({
  ...oneOfEach['child.ended'],
  attempt,
  tree,
});
const over = ended('complete');

describe('the proof', () => {
  it('is not there while the run is not over, whatever was seen', () => {
    for (const events of [[], [spawned(1)], [spawned(1), gone(1)], [spawned(1), gone(1), oneOfEach['child.settled']]])
      expect(proof(...events)).toEqual({ state: 'pending', reason: null });
  });

  it('needs no process where none was started', () => {
    expect(proof(over)).toEqual({ state: 'not-started', reason: null });
    expect(proof(intended(1), failedToStart(1), over).state).toBe('not-started');
  });

  it('is that every process was seen to end with all it had started', () => {
    expect(proof(spawned(1), gone(1), over)).toEqual({ state: 'observed', reason: null });
    expect(proof(spawned(1), gone(1), spawned(2), gone(2), over).state).toBe('observed');
  });

  it('is missing when one end was not seen, also that of an earlier attempt', () => {
    const unseen = { state: 'unknown', reason: 'writer-close-unverified' };
    expect(proof(spawned(1), over)).toEqual(unseen);
    expect(proof(spawned(1), oneOfEach['child.settled'], over)).toEqual(unseen);
    expect(proof(spawned(1), spawned(2), gone(2), over)).toEqual(unseen);
    // The worse of two reasons is named.
    expect(proof(spawned(1), gone(1, 'unknown'), spawned(2), over)).toEqual(unseen);
  });

  it('is missing when what one process had started could not be checked', () => {
    const unchecked = { state: 'unknown', reason: 'process-tree-unverified' };
    expect(proof(spawned(1), gone(1, 'unknown'), over)).toEqual(unchecked);
    expect(proof(spawned(1), gone(1, 'unknown'), spawned(2), gone(2), over)).toEqual(unchecked);
  });

  it('is missing when a process may have been started and nobody saw it', () => {
    const unseen = { state: 'unknown', reason: 'writer-close-unverified' };
    expect(proof(intended(1), over)).toEqual(unseen);
    expect(proof(intended(1), spawned(1), gone(1), intended(2), over)).toEqual(unseen);
    // Until it was looked for.
    expect(proof(intended(1), gone(1), over).state).toBe('observed');
    expect(proof(intended(1), gone(1, 'unknown'), over)).toEqual({
      state: 'unknown',
      reason: 'process-tree-unverified',
    });
  });

  it('counts a process that was meant and came to be once', () => {
    expect(proof(intended(1), spawned(1), gone(1), over).state).toBe('observed');
    expect(foldRun(aRecord(), lines([intended(1), spawned(1)])).children[0]?.processes).toEqual([
      { attempt: 1, process: { pid: 8, start: 'c' }, tree: 'pending' },
    ]);
  });

  it('can come after the end of the run', () => {
    expect(proof(spawned(1), over, gone(1)).state).toBe('observed');
  });

  it('reads as a sentence, each state another', () => {
    const sentences = [
      describeProof({ state: 'pending', reason: null }),
      describeProof({ state: 'not-started', reason: null }),
      describeProof({ state: 'observed', reason: null }),
      describeProof({ state: 'unknown', reason: 'writer-close-unverified' }),
      describeProof({ state: 'unknown', reason: 'process-tree-unverified' }),
    ];
    expect(new Set(sentences).size).toBe(5);
    expect(sentences.filter((sentence) => /proven gone/.test(sentence) && !/not proven/.test(sentence))).toHaveLength(
      1,
    );
  });
});

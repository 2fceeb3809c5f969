import type { Child, ChildEnd, ChildOutcome, ChildReady } from '../../../src/core/children/index.ts';
import type { QuestionAnswer } from '../../../src/protocol/index.ts';

/** A child that only remembers what is said to it. */
export class FakeChild implements Child {
  readonly process = { pid: 8, start: 'c' };
  readonly settled = new Promise<ChildOutcome>(() => {});
  /** What it was told, with the mode in front. */
  readonly told: string[] = [];
  readonly answers: [string, QuestionAnswer][] = [];
  /** What it says it made of a message. */
  disposition = 'queued';
  /** What happens before it takes a message. */
  taking: (text: string) => Promise<void> = async () => undefined;

  ready(): Promise<ChildReady> {
    return new Promise(() => {});
  }

  async prompt(): Promise<{ disposition: string }> {
    return { disposition: 'started' };
  }

  async steer(text: string, mode: 'steer' | 'follow-up'): Promise<{ disposition: string }> {
    this.told.push(`${mode}: ${text}`);
    await this.taking(text);
    return { disposition: this.disposition };
  }

  answer(questionId: string, answer: QuestionAnswer): void {
    this.answers.push([questionId, answer]);
  }

  async abort(): Promise<boolean> {
    return true;
  }

  async end(): Promise<ChildEnd> {
    return { exitCode: 0, signal: null, tree: 'gone', note: null };
  }

  hurry(): Promise<ChildEnd> {
    return this.end();
  }
}

/** Answers to the child's questions that are on their way, and why one was not taken. */
import type { PanelHead, QuestionAnswer, ToTranscriptPanel } from '../../src/protocol/index.ts';

export interface QuestionChannel {
  answer(questionId: string, answer: QuestionAnswer, take: (message: ToTranscriptPanel) => void): number;
  forget(request: number): void;
  /** Said when an answer was refused without a reason. */
  readonly refused: string;
  changed(): void;
}

export class Questions {
  readonly #channel: QuestionChannel;
  readonly #answering = new Set<string>();
  readonly #problems = new Map<string, string>();

  constructor(channel: QuestionChannel) {
    this.#channel = channel;
  }

  isAnswering(id: string): boolean {
    return this.#answering.has(id);
  }

  /** Why the last answer was not taken; null: nothing to say. */
  problem(id: string): string | null {
    return this.#problems.get(id) ?? null;
  }

  answer(id: string, answer: QuestionAnswer): void {
    this.#answering.add(id);
    this.#problems.delete(id);
    const request = this.#channel.answer(id, answer, (message) => {
      this.#channel.forget(request);
      const problem = this.#problemIn(message);
      if (problem !== null) {
        this.#problems.set(id, problem);
        this.#answering.delete(id);
      }
      this.#channel.changed();
    });
    this.#channel.changed();
  }

  /** The questions that are open now; what is known of others is let go. */
  update(questions: PanelHead['questions']): void {
    const open = new Set(questions.map(({ id }) => id));
    for (const id of this.#answering) if (!open.has(id)) this.#answering.delete(id);
    for (const id of this.#problems.keys()) if (!open.has(id)) this.#problems.delete(id);
  }

  #problemIn(message: ToTranscriptPanel): string | null {
    if (message.type === 'failed') return message.error.message;
    const refused = message.type === 'receipt' && (message.state === 'refused' || message.state === 'failed');
    return refused ? (message.message ?? this.#channel.refused) : null;
  }
}

/** Everything that listens to a working child: mirror, journal, limits, attention, steering, questions. */
import type { Child, ChildEvent, ChildReady } from '../core/children/index.ts';
import type { ChildLayout } from '../core/projects/index.ts';
import { inTime } from '../core/time/index.ts';
import { CappedLog, LineRedaction, MirrorWriter } from '../core/transcripts/index.ts';
import { type ChildPlan, cutText } from '../protocol/index.ts';
import { Attention } from './attention.ts';
import type { Deadlines } from './deadlines.ts';
import type { OpenRun } from './open-run.ts';
import { ProgressNotes } from './progress-notes.ts';
import { Questions } from './questions.ts';
import type { Steering } from './steering.ts';

/** Milliseconds an end waits for files that are only for reading along. */
const READ_ALONG_MS = 3000;
const STDOUT_NOTE_CHARS = 2000;
/** A child may not fill the journal with noise: after so many lines the rest is only read. */
const MAX_STDOUT_NOTES = 100;

export class ChildDesk {
  readonly steering: Steering;
  readonly questions: Questions;
  readonly #run: OpenRun;
  readonly #index: number;
  readonly #mirror: MirrorWriter;
  readonly #stderr: CappedLog;
  readonly #progress: ProgressNotes;
  readonly #attention: Attention;
  readonly #deadlines: Deadlines;
  readonly #living = new Set<Child>();
  #child: Child | undefined;
  #over = false;
  #stdoutNotes = 0;
  readonly #stdoutRedaction = new LineRedaction();

  constructor(
    run: OpenRun,
    { index, plan }: { index: number; plan: ChildPlan },
    layout: ChildLayout,
    deadlines: Deadlines,
    steering: Steering,
  ) {
    this.#run = run;
    this.#index = index;
    this.steering = steering;
    this.questions = new Questions(run, index);
    this.#mirror = new MirrorWriter(layout.transcript);
    this.#stderr = new CappedLog(layout.stderr);
    this.#progress = new ProgressNotes((event) => run.note(event), index);
    this.#attention = new Attention((event) => run.note(event), index, plan.thinking);
    this.#deadlines = deadlines;
  }

  /** The child whose events follow. */
  attend(child: Child): void {
    this.#child = child;
    this.#living.add(child);
  }

  /** The child's process has been ended, and that is written down. */
  dismiss(child: Child): void {
    this.#living.delete(child);
  }

  /** Children whose end is not written down yet. */
  get living(): Child[] {
    return [...this.#living];
  }

  /** Ends every process that was started and not ended: whatever went wrong, nothing is left running. */
  async endLiving(): Promise<void> {
    await Promise.all([...this.#living].map((child) => child.end().catch(() => undefined)));
    this.#living.clear();
  }

  /** What is being ended is ended without any more patience. */
  hurry(): void {
    for (const child of this.#living) child.hurry().catch(() => undefined);
  }

  /** Its work is over: what follows is only its end. */
  get isOver(): boolean {
    return this.#over;
  }

  /** The child can be asked now. */
  ready({ thinking }: ChildReady): void {
    this.#attention.thinking = thinking ?? undefined;
  }

  /** A line of ours in the transcript. */
  remark(text: string): void {
    this.#mirror.add({ type: 'note', t: Date.now(), text });
  }

  readonly onEvent = (event: ChildEvent): void => {
    switch (event.type) {
      case 'transcript':
        this.#mirror.add(event.entry);
        this.#attention.heard();
        break;
      case 'progress':
        this.#deadlines.phase = event.progress.tool
          ? `its tool ${event.progress.tool} was running`
          : event.progress.phase;
        this.#progress.update(event.progress);
        this.#attention.activity(event.progress.phase, event.progress.turns);
        break;
      case 'tool.start':
        this.#deadlines.toolStarted(event.id, event.name);
        break;
      case 'tool.end':
        this.#deadlines.toolEnded(event.id);
        this.#attention.toolEnded(event.name, event.isError);
        break;
      case 'heard':
        this.steering.heard(event.text);
        break;
      case 'model-asked':
        this.steering.modelAsked();
        break;
      case 'rate-limited':
        this.#run.rateGate.limited(event);
        break;
      case 'question':
        this.remark(`It asks: ${[event.question.title, event.question.message].filter(Boolean).join(' ')}`);
        if (this.#child) void this.questions.ask(this.#child, event.question);
        break;
      case 'stderr':
        this.#stderr.add(event.text);
        break;
      case 'stdout':
        if (this.#stdoutNotes++ < MAX_STDOUT_NOTES) {
          this.#run.note({
            type: 'child.stdout',
            child: this.#index,
            text: cutText(this.#stdoutRedaction.redact(event.text), STDOUT_NOTE_CHARS),
          });
        }
        break;
      default:
        event satisfies never;
    }
  };

  /** No more limits and receipts: the work is over, the process may still be ending. */
  async workOver(): Promise<void> {
    this.#over = true;
    this.#deadlines.dispose();
    this.#attention.dispose();
    this.#progress.stop();
    await this.questions.close();
    await this.steering.close();
    await inTime(this.#mirror.flush(), READ_ALONG_MS);
  }

  async close(): Promise<void> {
    this.#deadlines.dispose();
    this.#attention.dispose();
    this.#progress.stop();
    await inTime(Promise.allSettled([this.#mirror.close(), this.#stderr.close()]), READ_ALONG_MS);
  }
}

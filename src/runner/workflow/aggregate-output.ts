/** The file that what a workflow comes to is also written to: claimed when the workflow begins, written once, at its end. */
import { OutputClaim, type OutputOutcome } from '../../core/outputs/index.ts';
import { rootLayout } from '../../core/projects/index.ts';
import { type JournalEvent, type JournalLine, toErrorValue, type WorkflowRecord } from '../../protocol/index.ts';
import type { OpenRun } from '../open-run.ts';

export interface WrittenOutput extends OutputOutcome {
  /** Absolute. */
  path: string;
}

export class AggregateOutput {
  readonly #run: OpenRun;
  readonly #path: string;
  #claim: OutputClaim | undefined;

  constructor(run: OpenRun, path: string) {
    this.#run = run;
    this.#path = path;
  }

  /** `undefined`: the workflow has no such file. */
  static of(run: OpenRun, { workflow: { output } }: WorkflowRecord): AggregateOutput | undefined {
    return output === undefined ? undefined : new AggregateOutput(run, output);
  }

  /** `undefined`: somebody else has it. */
  get claimed(): OutputClaim | undefined {
    return this.#claim;
  }

  /** @throws LanesError `output_in_use`, `output_unusable` */
  async claim(): Promise<JournalEvent[]> {
    const { record, earlier } = this.#run;
    const { claims } = rootLayout(record.agentDir);
    this.#claim = await OutputClaim.take(claims, this.#path, `the result of run ${record.runId}`, lookBefore(earlier));
    const { path, before } = this.#claim;
    return [{ type: 'output.claimed', path, before }];
  }

  /** For a run that goes on: its work must not end because somebody else has the file by now. */
  async claimAgain(): Promise<JournalEvent[]> {
    return this.claim().catch(() => []);
  }

  /** Writes the text, unless somebody of the workflow has written the file. Never throws for what becomes of the file. */
  async settle(text: string): Promise<WrittenOutput> {
    const settled = await this.#write(text);
    await this.#run.append({ type: 'output.settled', ...settled });
    return settled;
  }

  async #write(text: string): Promise<WrittenOutput> {
    try {
      // It may have become free meanwhile.
      if (!this.#claim) await this.claim();
    } catch (error) {
      return { path: this.#path, outcome: 'failed', bytes: 0, error: toErrorValue(error).message };
    }
    const path = this.#claim?.path ?? this.#path;
    const settled = await this.#claim?.settle(text, { again: true });
    return { path, ...(settled ?? { outcome: 'failed', bytes: 0, error: null }) };
  }

  async release(): Promise<void> {
    await this.#claim?.release().catch(() => undefined);
  }
}

/** What the file looked like when the work began; `undefined`: as it is now, because what stands there is of an end that no longer holds. */
function lookBefore(lines: readonly JournalLine[]): OutputClaim['before'] | undefined {
  const own = lines.flatMap((line) =>
    (line.type === 'output.claimed' || line.type === 'output.settled') && line.child === undefined ? [line] : [],
  );
  const last = own.at(-1);
  if (last?.type === 'output.settled' && last.outcome === 'saved') return undefined;
  const claim = own.findLast((line) => line.type === 'output.claimed');
  return claim?.type === 'output.claimed' ? claim.before : undefined;
}

/** A script and its desk, moved step by step. Runs where the engine runs; nothing here knows of threads. */
import { cutText } from '../../../protocol/index.ts';
import type { BodyEnd, ErrorKind, StepBreak, StepInput, StepOutput, WorkflowError } from './calls.ts';
import { ERROR_KINDS } from './calls.ts';
import { Desk } from './desk.ts';
import { MAX_ERROR_CHARS, STEP_FUEL } from './limits.ts';
import { Refusal } from './refusal.ts';
import { EngineFailure, type OpenRealm, type RealmOptions, type ScriptRealm } from './script-engine.ts';

export interface SessionOptions {
  script: string;
  /** JSON text; none: `args` is undefined. */
  args?: string;
  /** Whether `state` exists. */
  state: boolean;
  seed: number;
  heapBytes: number;
  prelude: RealmOptions['prelude'];
  openRealm: OpenRealm;
  /** Polls that one step may take; the default is about a minute of computing. */
  stepFuel?: number;
  /** Asked at every poll: why the running step must end now, if it must. */
  mustEnd: () => 'deadline' | 'stop' | undefined;
}

export class Session {
  readonly #mustEnd: SessionOptions['mustEnd'];
  readonly #stepFuel: number;
  readonly #desk = new Desk();
  #realm: ScriptRealm | undefined;
  #now = 0;
  #end: BodyEnd | undefined;
  #polls = 0;
  #brokenBy: 'deadline' | 'stop' | 'fuel' | undefined;
  #interruptAt: StepInput['interruptAt'];
  #started = false;

  private constructor({ mustEnd, stepFuel = STEP_FUEL }: SessionOptions) {
    this.#mustEnd = mustEnd;
    this.#stepFuel = stepFuel;
  }

  /** @throws ScriptSyntaxError when the engine cannot read the script */
  static async open(options: SessionOptions): Promise<Session> {
    const session = new Session(options);
    const realm = await options.openRealm({
      prelude: options.prelude,
      limits: { heapBytes: options.heapBytes },
      now: () => session.#now,
      seed: options.seed,
      interrupt: () => session.#interrupt(),
      bridge: (name, ...texts) => session.#ask(name, texts),
    });
    session.#realm = realm;
    try {
      realm.call('prepare', options.args ?? '', String(options.state));
      realm.load(options.script);
    } catch (error) {
      realm.dispose();
      throw error;
    }
    return session;
  }

  /** The first step starts the script. */
  step(input: StepInput): StepOutput {
    this.#now = input.at;
    this.#polls = 0;
    this.#brokenBy = undefined;
    this.#interruptAt = input.interruptAt;
    const broken = this.#run(input);
    const output: StepOutput = {
      calls: this.#desk.takeCalls(),
      fuel: this.#polls,
      heapBytes: this.#realm?.heapBytes ?? 0,
    };
    if (this.#end) output.end = this.#end;
    else if (broken) output.broken = broken;
    return output;
  }

  #run(input: StepInput): StepBreak | undefined {
    const realm = this.#realm;
    if (!realm) return { reason: 'engine', message: 'The engine has been closed.' };
    try {
      if (!this.#started) {
        this.#started = true;
        realm.call('start');
        realm.drain();
      }
      for (const delivery of input.deliveries) this.#desk.deliver(delivery);
      for (
        let next = this.#desk.takeSettlements();
        next.length > 0 && !this.#end && !this.#brokenBy;
        next = this.#desk.takeSettlements()
      ) {
        for (const { promise, kind, text } of next) realm.call('settle', String(promise), kind, text);
        realm.drain();
      }
      return this.#interrupted();
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error;
      if (error.reason === 'interrupted') return this.#interrupted() ?? { reason: 'stop', polls: this.#polls };
      return { reason: error.reason, message: error.message };
    }
  }

  /** Handlers of promises swallow an interrupt like any error: the script goes on with a rejection. The step is over nevertheless. */
  #interrupted(): StepBreak | undefined {
    return this.#brokenBy && { reason: this.#brokenBy, polls: this.#polls };
  }

  #interrupt(): boolean {
    // What is left after the end of the body, or after the first interrupt, does not matter any more.
    if (this.#end || this.#brokenBy) return true;
    this.#polls += 1;
    const planned = this.#interruptAt;
    if (planned) this.#brokenBy = this.#polls >= planned.polls ? planned.reason : undefined;
    else this.#brokenBy = this.#polls > this.#stepFuel ? 'fuel' : this.#mustEnd();
    return this.#brokenBy !== undefined;
  }

  #ask(name: string, texts: readonly string[]): string {
    if (this.#brokenBy) return JSON.stringify({ kind: 'engine', message: 'The workflow has ended.' });
    if (name === 'done') {
      const [value = 'null', observed = ''] = texts;
      const promises = new Set(observed === '' ? [] : observed.split(',').map(Number));
      this.#end ??= { type: 'returned', value, unobserved: this.#desk.unobserved(promises) };
      return '';
    }
    if (name === 'failed') {
      const [text = '{}', place = ''] = texts;
      this.#end ??= { type: 'threw', error: readError(JSON.parse(text)), atReturn: place === 'return' };
      return '';
    }
    try {
      if (this.#end) throw new Refusal('script', 'The workflow has ended.');
      this.#desk.ask(name, texts);
      return '';
    } catch (error) {
      const kind = error instanceof Refusal ? error.kind : 'engine';
      const message = error instanceof Error ? error.message : String(error);
      return JSON.stringify({ kind, message });
    }
  }

  dispose(): void {
    this.#realm?.dispose();
    this.#realm = undefined;
  }
}

function readError({
  kind,
  name,
  message,
  stack,
}: {
  kind: string;
  name: string;
  message: string;
  stack: string;
}): WorkflowError {
  const known: ErrorKind = ERROR_KINDS.find((each) => each === kind) ?? 'script';
  const frames = cutText(stack, MAX_ERROR_CHARS).trimEnd();
  const at = /workflow\.js:(\d+):(\d+)/.exec(frames);
  const named = name === 'Error' || known !== 'script' ? message : `${name}: ${message}`;
  const head = cutText(message === '' ? name || 'Error' : named, MAX_ERROR_CHARS);
  return {
    message: frames === '' ? head : `${head}\n${frames}`,
    kind: known,
    ...(at ? { line: Number(at[1]), column: Number(at[2]) } : {}),
  };
}

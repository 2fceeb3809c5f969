/**
 * What a workflow is from outside: a fold over its calls and the facts that answer them. It says what may start, writes the trace and
 * answers by itself what needs nobody. It is pure, so the same calls and facts always give the same; live runs and replays use it alike.
 */

import type { WorkflowLimits } from '../../../protocol/index.ts';
import type { OutputFolders } from '../output-paths.ts';
import { Admission, type Refused } from './admission.ts';
import { resumedParams } from './auto-resume.ts';
import type { Answer, Call, Delivery, LaunchCall } from './calls.ts';
import { type ChildView, failedView, isObject, stateOf } from './child-result.ts';
import type { Effect, Fact } from './effects.ts';
import { LimitsInForce } from './limits-in-force.ts';
import { OutputBindings } from './output-bindings.ts';
import { hostOutcome, type Outcome, refused, statusOutcome, steerOutcome } from './outside-answers.ts';
import { SettledChildren } from './settled-children.ts';
import { type ConsoleEntry, launchRow, type TraceRow } from './trace.ts';

export interface Capabilities {
  steer: boolean;
  host: boolean;
  status: boolean;
  resolveResume: boolean;
}

export interface ConductorSettings extends WorkflowLimits {
  capabilities: Capabilities;
  /** Absent: outputs are compared by their names. */
  outputs?: OutputFolders;
}

/** What may come to its end after the body has. */
const ENDS_BY_ITSELF: ReadonlySet<Effect['type']> = new Set<Effect['type']>(['steer', 'host', 'state.set']);

interface Open {
  effect: Effect;
  since: number;
  row: Partial<TraceRow>;
  /** Whether the effect was handed out. */
  started: boolean;
  /** A child counts against the limit while it runs. */
  running: boolean;
  resumed?: true;
}

export class Conductor {
  readonly trace: TraceRow[] = [];
  readonly emits: unknown[] = [];
  readonly console: ConsoleEntry[] = [];
  readonly #settings: ConductorSettings;
  readonly #limits: LimitsInForce;
  readonly #outputs: OutputBindings;
  readonly #admission: Admission;
  readonly #settled = new SettledChildren();
  readonly #open = new Map<number, Open>();
  #queue: number[] = [];
  #ready: Effect[] = [];
  #local: Delivery[] = [];
  #asked: Effect[] = [];
  #running = 0;

  constructor(settings: ConductorSettings) {
    this.#settings = settings;
    this.#limits = new LimitsInForce(settings);
    this.#outputs = new OutputBindings(settings.outputs);
    this.#admission = new Admission(this.#limits, this.#outputs);
  }

  // ---- limits

  /** What follows is a step of a record that had these limits; none: those of now hold. */
  repeatUnder(limits: WorkflowLimits | undefined): void {
    this.#limits.repeatUnder(limits);
  }

  /** Whether the limits of now let through or refused something that the record decided otherwise: from there on it does not hold. */
  get departed(): boolean {
    return this.#limits.departed;
  }

  // ---- calls

  /** Calls of the script, in order, made at this time (milliseconds since 1970). */
  take(calls: readonly Call[], at: number): void {
    for (const call of calls) {
      if (call.type === 'emit') this.emits.push(JSON.parse(call.value));
      else if (call.type === 'console') this.console.push({ level: call.level, text: call.text });
      else if (call.type === 'batch') this.#takeBatch(call.items, at);
      else if (call.type !== 'lanes') this.#takeOther(call, at);
    }
  }

  #takeBatch(items: Extract<Call, { type: 'batch' }>['items'], at: number): void {
    const launches = items.flatMap((item) => ('launch' in item ? [item.launch] : []));
    const refusal = this.#admission.group(launches);
    for (const item of items) {
      if ('reuse' in item) this.trace.push({ operation: 'run', key: item.reuse, state: 'reused' });
      else this.#takeLaunch(item.launch, refusal, at);
    }
  }

  #takeLaunch(launch: LaunchCall, refusal: Refused | undefined, at: number): void {
    const { id, key, params } = launch;
    const row = launchRow(params, launch.generatedLaneKey);
    this.#settled.launched(key);
    const effect: Effect = { type: 'launch', id, key, params };
    this.#open.set(id, { effect, since: at, row, started: false, running: false });
    this.#asked.push(effect);
    if (refusal) {
      this.#refuseChild(id, refusal, at);
      return;
    }
    this.trace.push({ operation: 'run', key, state: 'started', ...row });
    if (isObject(params['resume']) && !this.#settings.capabilities.resolveResume) {
      const message = 'Resuming by workflow run and key is not available in this host; resume by run id.';
      this.#refuseChild(id, { message }, at);
      return;
    }
    const uncounted = this.#admission.uncounted(launch);
    if (uncounted) {
      this.#refuseChild(id, uncounted, at);
      return;
    }
    this.#queue.push(id);
  }

  #takeOther(call: Exclude<Call, { type: 'emit' | 'console' | 'batch' | 'lanes' }>, at: number): void {
    this.#open.set(call.id, { effect: call, since: at, row: {}, started: false, running: false });
    this.#asked.push(call);
    const { capabilities } = this.#settings;
    const name = call.type;
    const missing = name === 'steer' || name === 'host' || name === 'status' ? !capabilities[name] : false;
    const held = name === 'steer' || name === 'host' || name === 'state.set' ? this.#admission.held(name) : undefined;
    const key = call.type === 'status' ? call.target : call.key;
    const bindings = call.type === 'host' ? this.#outputs.bindings('hosts', [call]) : [];
    const collision = this.#outputs.collision(bindings);
    if (missing || held !== undefined || collision !== undefined) {
      const message = missing
        ? `runs.${name} is not available in this host.`
        : (held ?? `The host command was refused: ${collision}`);
      this.#open.delete(call.id);
      if (name === 'steer' || name === 'host' || name === 'status') {
        this.trace.push({ operation: name, key, state: 'failed', error: message });
      }
      this.#local.push({ id: call.id, answer: { type: 'refused', kind: 'script', message } });
      return;
    }
    if (name === 'steer' || name === 'host' || name === 'status') {
      this.trace.push({ operation: name, key, state: 'started' });
    }
    this.#outputs.bind(bindings);
    this.#ready.push(call);
  }

  /** A child that never starts. */
  #refuseChild(id: number, { message, kind, outcome }: Refused, at: number): void {
    const open = this.#open.get(id);
    if (!open) return;
    const view = failedView(open.effect.type === 'launch' ? open.effect.key : '', message);
    const answer = this.#settleChild(open, outcome ? { ...view, terminalOutcome: outcome } : view, at);
    this.#local.push({ id, answer: kind && answer.type === 'child' ? { ...answer, kind } : answer });
  }

  /** Numbers of the launches that wait for their turn, the next one first. */
  get queued(): number[] {
    return [...this.#queue];
  }

  /** What may start now: first come, first served. Each is given once. */
  next(at: number): Effect[] {
    const effects = this.#ready;
    this.#ready = [];
    while (this.#queue.length > 0 && this.#running < this.#limits.current.globalConcurrencyLimit) {
      const id = this.#queue.shift() ?? 0;
      const open = this.#open.get(id);
      if (!open) continue;
      const refusal = this.#admission.turn();
      if (refusal) {
        this.#refuseChild(id, refusal, at);
        continue;
      }
      open.running = true;
      this.#running += 1;
      effects.push(open.effect);
    }
    return this.#handOut(effects);
  }

  #handOut(effects: Effect[]): Effect[] {
    for (const { id } of effects) {
      const open = this.#open.get(id);
      if (open) open.started = true;
    }
    return effects;
  }

  /** What the last step asked for and is done although the body has ended. Children no longer start. */
  atEnd(): Effect[] {
    const effects = this.#ready.filter(({ type }) => ENDS_BY_ITSELF.has(type));
    this.#ready = [];
    return this.#handOut(effects);
  }

  /** A fact about an effect. @returns the answer for the script; nothing when it goes on, or is not known */
  deliver(fact: Fact, at: number): Delivery | undefined {
    const open = this.#open.get(fact.id);
    if (!open) return undefined;
    const { effect } = open;
    if (effect.type === 'launch') {
      const view = fact.ok ? asView(effect.key, fact.value) : failedView(effect.key, fact.message ?? 'It failed.');
      if (this.#resumeOnce(open, effect, view)) return undefined;
      return { id: fact.id, answer: this.#settleChild(open, view, at) };
    }
    this.#open.delete(fact.id);
    if (effect.type === 'state.get' || effect.type === 'state.set') {
      return {
        id: fact.id,
        answer: fact.ok ? valueAnswer(effect.type === 'state.get' ? fact.value : undefined) : refused(fact.message),
      };
    }
    const durationMs = at - open.since;
    const key = effect.type === 'status' ? effect.target : effect.key;
    const { answer, state, error } = outcomeOf(effect, fact, durationMs);
    if (effect.type === 'host' && error !== undefined) this.#outputs.release(key);
    const row: TraceRow = { operation: effect.type, key, state, durationMs };
    this.trace.push(error === undefined ? row : { ...row, error });
    return { id: fact.id, answer };
  }

  #settleChild(open: Open, result: ChildView, at: number): Answer {
    const { effect } = open;
    const view = effect.type === 'launch' ? this.#settled.withLineage(result, effect.params['resume']) : result;
    this.#open.delete(effect.id);
    if (open.running) this.#running -= 1;
    this.#settled.add(view);
    this.#admission.settled(view);
    const row: TraceRow = {
      operation: 'run',
      key: view.key,
      state: stateOf(view),
      ...open.row,
      durationMs: at - open.since,
    };
    if (view.agent !== undefined) row.agent = view.agent;
    if (view.runId !== undefined) row.runId = view.runId;
    if (!view.ok && view.error) row.error = view.error;
    this.trace.push(row);
    return { type: 'child', view };
  }

  /** @returns whether the child goes on by itself instead of having failed */
  #resumeOnce(open: Open, effect: Extract<Effect, { type: 'launch' }>, view: ChildView): boolean {
    const params = open.resumed ? undefined : resumedParams(effect.params, view);
    if (!params || view.runId === undefined) return false;
    open.resumed = true;
    open.effect = { ...effect, params };
    const again = { phase: 'auto-resume', runId: view.runId };
    this.trace.push({ operation: 'run', key: effect.key, state: 'started', ...open.row, ...again });
    this.#ready.push(open.effect);
    this.#asked.push(open.effect);
    return true;
  }

  /** What has been asked for since the last time, in order, refused or not; a child that goes on by itself asks again. */
  takeAsked(): Effect[] {
    const taken = this.#asked;
    this.#asked = [];
    return taken;
  }

  // ---- what it answers by itself, and what is under way

  takeLocal(): Delivery[] {
    const taken = this.#local;
    this.#local = [];
    return taken;
  }

  get hasLocal(): boolean {
    return this.#local.length > 0;
  }

  /** Whether anything is under way that will be answered. */
  get waiting(): boolean {
    return this.#open.size > 0 || this.#local.length > 0;
  }

  /** Whether it is a steer, a host command or a stored value that is under way: the end of a workflow waits for them. */
  isFinishing(id: number): boolean {
    const open = this.#open.get(id);
    return open?.started === true && ENDS_BY_ITSELF.has(open.effect.type);
  }

  /** What has been handed out and not answered, in the order of the calls. */
  get underWay(): Effect[] {
    return [...this.#open.values()].flatMap(({ effect, started }) => (started ? [effect] : []));
  }

  /** What has been asked for and not answered, in the order of the calls. */
  get unanswered(): Effect[] {
    return [...this.#open.values()].map(({ effect }) => effect);
  }

  /** What an operation that is under way asks for. */
  effectOf(id: number): Effect | undefined {
    return this.#open.get(id)?.effect;
  }

  /** Ends everything that is under way. @returns the keys of the children that were called and had not settled */
  stop(reason: string): string[] {
    const keys: string[] = [];
    for (const { effect, row } of this.#open.values()) {
      if (effect.type === 'launch') {
        keys.push(effect.key);
        this.trace.push({ operation: 'run', key: effect.key, state: 'stopped', ...row, error: reason });
      } else if (effect.type === 'host')
        this.trace.push({ operation: 'host', key: effect.key, state: 'stopped', error: reason });
      else if (effect.type === 'steer')
        this.trace.push({ operation: 'steer', key: effect.key, state: 'missed', error: reason });
    }
    this.#open.clear();
    this.#queue = [];
    this.#ready = [];
    this.#local = [];
    return keys;
  }

  /** What became of children so far, in the order of their launch. */
  get children(): ChildView[] {
    return this.#settled.all;
  }

  get budgetExhausted(): boolean {
    return this.#admission.budgetExhausted;
  }
}

function outcomeOf(
  effect: Extract<Effect, { type: 'steer' | 'host' | 'status' }>,
  fact: Fact,
  durationMs: number,
): Outcome {
  if (effect.type === 'steer') return steerOutcome(effect.key, fact);
  return effect.type === 'status' ? statusOutcome(effect.runId, fact) : hostOutcome(effect.key, fact, durationMs);
}

function valueAnswer(value: unknown): Answer {
  return value === undefined ? { type: 'value' } : { type: 'value', value };
}

/** Facts of children are views: what a host said was read by `readHostResult` before it became one. */
function asView(key: string, value: unknown): ChildView {
  const fields = isObject(value) ? value : {};
  return {
    ...fields,
    key,
    ok: fields['ok'] === true,
    output: typeof fields['output'] === 'string' ? fields['output'] : '',
    artifactPaths: Array.isArray(fields['artifactPaths']) ? fields['artifactPaths'] : [],
  };
}

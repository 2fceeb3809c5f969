/**
 * What a workflow is from outside: a fold over its calls and the facts that answer them. It says what may start, writes the trace and
 * answers by itself what needs nobody. It is pure, so the same calls and facts always give the same; live runs and replays use it alike.
 */
import { totalOf, type UsageBudget, usageReason } from './budget.ts';
import type { Answer, Call, Delivery, LaunchCall, WorkflowError } from './calls.ts';
import { type ChildView, failedView, isObject, stateOf } from './child-result.ts';

export interface Capabilities {
  steer: boolean;
  host: boolean;
  status: boolean;
  resolveResume: boolean;
}

export interface ConductorSettings {
  globalConcurrencyLimit: number;
  maxSubagentSpawnsPerRun: number;
  usageBudget?: UsageBudget;
  capabilities: Capabilities;
}

export interface TraceRow {
  operation: 'run' | 'status' | 'steer' | 'host';
  key: string;
  state: string;
  agent?: string;
  runId?: string;
  durationMs?: number;
  phase?: string;
  label?: string;
  error?: string;
  generatedLaneKey?: true;
  lane?: unknown;
}

export type ConsoleEntry = { level: string; text: string };

/** Something to be done outside. */
export type Effect =
  | { type: 'launch'; id: number; key: string; params: Record<string, unknown> }
  | Extract<Call, { type: 'steer' | 'host' | 'status' | 'state.get' | 'state.set' }>;

/** What came of an effect: plain JSON. The record of a run is made of these. */
export interface Fact {
  id: number;
  key: string;
  ok: boolean;
  /** A `ChildView`, a receipt, a host result, a status, a stored value; none: undefined. */
  value?: unknown;
  /** Why it failed. */
  message?: string;
}

interface Open {
  effect: Effect;
  since: number;
  row: Partial<TraceRow>;
  /** A child counts against the limit while it runs. */
  running: boolean;
  resumed?: true;
}

const ABORTED = 'This operation was aborted';
const CONTINUE = 'Continue where you were interrupted.';
/** What a child keeps when it is resumed by itself. */
const KEPT_ON_RESUME = new Set(
  'acceptance agentContract baseRef index intercomBridge label lane timeoutMs maxRuntimeMs output outputMode outputSchema phase skill toolBudget worktree'.split(
    ' ',
  ),
);

export class Conductor {
  readonly trace: TraceRow[] = [];
  readonly emits: unknown[] = [];
  readonly console: ConsoleEntry[] = [];
  readonly #settings: ConductorSettings;
  readonly #open = new Map<number, Open>();
  #queue: number[] = [];
  #ready: Effect[] = [];
  #local: Delivery[] = [];
  readonly #order: string[] = [];
  readonly #settled = new Map<string, ChildView>();
  #running = 0;
  #spawned = 0;
  #usage = { tokens: 0, costUsd: 0 };

  constructor(settings: ConductorSettings) {
    this.#settings = settings;
  }

  /** Calls of the script, in order, made at this time (milliseconds since 1970). */
  take(calls: readonly Call[], at: number): void {
    for (const call of calls) {
      if (call.type === 'emit') this.emits.push(JSON.parse(call.value));
      else if (call.type === 'console') this.console.push({ level: call.level, text: call.text });
      else if (call.type === 'batch') this.#takeBatch(call.items, at);
      else this.#takeOther(call, at);
    }
  }

  #takeBatch(items: Extract<Call, { type: 'batch' }>['items'], at: number): void {
    const launches = items.flatMap((item) => ('launch' in item ? [item.launch] : []));
    const refusal = this.#admit(launches);
    for (const item of items) {
      if ('reuse' in item) this.trace.push({ operation: 'run', key: item.reuse, state: 'reused' });
      else this.#takeLaunch(item.launch, refusal, at);
    }
  }

  /** All of them or none. */
  #admit(launches: readonly LaunchCall[]): string | undefined {
    const limit = this.#settings.maxSubagentSpawnsPerRun;
    const wanted = launches.filter(({ params }) => params['resume'] === undefined).length;
    if (this.#spawned + wanted <= limit) {
      this.#spawned += wanted;
      return undefined;
    }
    const keys = launches.map(({ key }) => `'${key}'`).join(', ');
    return (
      `Launching ${keys} was refused: ${this.#spawned} of ${limit} children of this run tree are used, ${wanted} more were requested, ` +
      `${limit - this.#spawned} remain. No child of the group was started. Raise maxSubagentSpawnsPerRun to allow more.`
    );
  }

  #takeLaunch(launch: LaunchCall, refusal: string | undefined, at: number): void {
    const { id, key, params } = launch;
    const row: Partial<TraceRow> = {};
    for (const name of ['agent', 'phase', 'label'] as const) {
      const value = params[name];
      if (typeof value === 'string' && value.trim() !== '') row[name] = value.trim();
    }
    if (launch.generatedLaneKey) row.generatedLaneKey = true;
    if (params['lane'] !== undefined) row.lane = params['lane'];
    this.#order.push(key);
    this.#open.set(id, { effect: { type: 'launch', id, key, params }, since: at, row, running: false });
    if (refusal !== undefined) return this.#refuseChild(id, refusal, at, 'limit');
    this.trace.push({ operation: 'run', key, state: 'started', ...row });
    if (isObject(params['resume']) && !this.#settings.capabilities.resolveResume) {
      const message = 'Resuming by workflow run and key is not available in this host; resume by run id.';
      return this.#refuseChild(id, message, at);
    }
    if (this.#settings.usageBudget && params['async'] === true) {
      return this.#refuseChild(id, 'With a usage budget a child cannot be "async": its use could not be counted.', at);
    }
    this.#queue.push(id);
  }

  #takeOther(call: Exclude<Call, { type: 'emit' | 'console' | 'batch' }>, at: number): void {
    this.#open.set(call.id, { effect: call, since: at, row: {}, running: false });
    const { capabilities } = this.#settings;
    const name = call.type;
    const missing = name === 'steer' || name === 'host' || name === 'status' ? !capabilities[name] : false;
    const key = call.type === 'status' ? call.target : call.key;
    if (missing) {
      const message = `runs.${name} is not available in this host.`;
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
    this.#ready.push(call);
  }

  /** A child that never starts. */
  #refuseChild(id: number, message: string, at: number, kind?: WorkflowError['kind']): void {
    const open = this.#open.get(id);
    if (!open) return;
    const answer = this.#settleChild(open, failedView(open.effect.type === 'launch' ? open.effect.key : '', message), at);
    this.#local.push({ id, answer: kind && answer.type === 'child' ? { ...answer, kind } : answer });
  }

  /** What may start now: first come, first served. Each is given once. */
  next(at: number): Effect[] {
    const effects = this.#ready;
    this.#ready = [];
    while (this.#queue.length > 0 && this.#running < this.#settings.globalConcurrencyLimit) {
      const id = this.#queue.shift() ?? 0;
      const open = this.#open.get(id);
      if (!open) continue;
      const reason = usageReason(this.#settings.usageBudget, this.#usage);
      if (reason) {
        this.#refuseChild(id, reason, at, 'limit');
        continue;
      }
      open.running = true;
      this.#running += 1;
      effects.push(open.effect);
    }
    return effects;
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
      return { id: fact.id, answer: fact.ok ? valueAnswer(effect.type === 'state.get' ? fact.value : undefined) : refused(fact.message) };
    }
    const durationMs = at - open.since;
    if (effect.type === 'steer') {
      const receipt = fact.ok ? receiptOf(effect.key, fact.value) : { key: effect.key, state: 'failed', error: fact.message ?? 'No receipt.' };
      const error = 'error' in receipt ? { error: String(receipt.error) } : {};
      this.trace.push({ operation: 'steer', key: effect.key, state: receipt.state, durationMs, ...error });
      return { id: fact.id, answer: { type: 'value', value: receipt } };
    }
    if (effect.type === 'status') return { id: fact.id, answer: this.#settleStatus(effect, fact, durationMs) };
    return { id: fact.id, answer: this.#settleHost(effect, fact, durationMs) };
  }

  #settleChild(open: Open, result: ChildView, at: number): Answer {
    const { effect } = open;
    const view = effect.type === 'launch' ? this.#withLineage(result, effect.params['resume']) : result;
    this.#open.delete(effect.id);
    if (open.running) this.#running -= 1;
    this.#settled.set(view.key, view);
    const used = totalOf(view['usage']);
    this.#usage = { tokens: this.#usage.tokens + used.tokens, costUsd: this.#usage.costUsd + used.costUsd };
    const row: TraceRow = { operation: 'run', key: view.key, state: stateOf(view), ...open.row, durationMs: at - open.since };
    if (view.agent !== undefined) row.agent = view.agent;
    if (view.runId !== undefined) row.runId = view.runId;
    if (!view.ok && view.error) row.error = view.error;
    this.trace.push(row);
    return { type: 'child', view };
  }

  /** The runs that a child went through, the newest last. */
  #withLineage(view: ChildView, resume: unknown): ChildView {
    if (view.runId === undefined || view.continuation !== undefined || typeof resume !== 'string') return view;
    const before = [...this.#settled.values()].find(({ runId }) => runId === resume.trim());
    const ancestors = before?.continuation?.runIds ?? [resume.trim()];
    return { ...view, continuation: { runIds: [...new Set([...ancestors, view.runId])] } };
  }

  /** A child that was aborted before it did anything is resumed, once. */
  #resumeOnce(open: Open, effect: Extract<Effect, { type: 'launch' }>, view: ChildView): boolean {
    if (open.resumed || view.ok || view.stopped || view.interrupted || view.detached || view.runId === undefined) return false;
    if (view.error !== ABORTED || !usedNothing(view['usage']) || !lastMessageEmpty(view['lastAssistantMessage'])) return false;
    open.resumed = true;
    const kept = Object.entries(effect.params).filter(([name]) => KEPT_ON_RESUME.has(name));
    const task = effect.params['task'];
    const params = { ...Object.fromEntries(kept), resume: view.runId, task: typeof task === 'string' && task.trim() ? task : CONTINUE };
    open.effect = { ...effect, params };
    this.trace.push({ operation: 'run', key: effect.key, state: 'started', ...open.row, phase: 'auto-resume', runId: view.runId });
    this.#ready.push(open.effect);
    return true;
  }

  #settleStatus(effect: Extract<Effect, { type: 'status' }>, fact: Fact, durationMs: number): Answer {
    const value = isObject(fact.value) ? fact.value : {};
    const ok = fact.ok && value['ok'] !== false;
    const reason = fact.message ?? text(value['error']) ?? text(value['output']) ?? 'there is no status';
    this.trace.push({ operation: 'status', key: effect.target, state: ok ? 'completed' : 'failed', durationMs, ...(ok ? {} : { error: reason }) });
    return ok ? { type: 'value', value: fact.value ?? null } : refused(`Status '${effect.runId}' failed: ${reason}`);
  }

  #settleHost(effect: Extract<Effect, { type: 'host' }>, fact: Fact, durationMs: number): Answer {
    const { key } = effect;
    const value = isObject(fact.value) ? fact.value : {};
    if (fact.ok && value['ok'] === true) {
      this.trace.push({ operation: 'host', key, state: 'completed', durationMs });
      const { stdout = '', stderr = '', outputPath } = value;
      const result = { key, kind: 'command', ok: true, state: 'passed', exitCode: 0, stdout, stderr, outputPath, durationMs: value['durationMs'] ?? durationMs };
      return { type: 'value', value: JSON.parse(JSON.stringify(result)) };
    }
    const stopped = value['state'] === 'stopped';
    const reason = fact.message ?? text(value['error']) ?? hostReason(value);
    const said = (text(value['stderr']) ?? text(value['stdout']) ?? '').replace(/\s+/g, ' ').trim().slice(0, 200);
    const error = `Host command '${key}' failed: ${reason}${said ? `: ${said}` : ''}`;
    this.trace.push({ operation: 'host', key, state: stopped ? 'stopped' : 'failed', durationMs, error });
    return refused(error);
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

  /** Whether steers, host commands or stored values are under way: the end of a workflow waits for them. */
  get finishing(): boolean {
    return [...this.#open.keys()].some((id) => this.isFinishing(id));
  }

  isFinishing(id: number): boolean {
    const type = this.#open.get(id)?.effect.type;
    return type === 'steer' || type === 'host' || type === 'state.set';
  }

  /** The key that an operation was asked under. */
  keyOf(id: number): string | undefined {
    const effect = this.#open.get(id)?.effect;
    return effect && (effect.type === 'status' ? effect.target : effect.key);
  }

  /** Ends everything that is under way. @returns the keys of the children that were called and had not settled */
  stop(reason: string): string[] {
    const keys: string[] = [];
    for (const { effect, row } of this.#open.values()) {
      if (effect.type === 'launch') {
        keys.push(effect.key);
        this.trace.push({ operation: 'run', key: effect.key, state: 'stopped', ...row, error: reason });
      } else if (effect.type === 'host') this.trace.push({ operation: 'host', key: effect.key, state: 'stopped', error: reason });
      else if (effect.type === 'steer') this.trace.push({ operation: 'steer', key: effect.key, state: 'missed', error: reason });
    }
    this.#open.clear();
    this.#queue = [];
    this.#ready = [];
    this.#local = [];
    return keys;
  }

  /** What became of children so far, in the order of their launch. */
  get children(): ChildView[] {
    return this.#order.flatMap((key) => this.#settled.get(key) ?? []);
  }

  get budgetExhausted(): boolean {
    return usageReason(this.#settings.usageBudget, this.#usage) !== undefined;
  }
}

function refused(message = 'It failed.'): Answer {
  return { type: 'refused', kind: 'script', message };
}

function valueAnswer(value: unknown): Answer {
  return value === undefined ? { type: 'value' } : { type: 'value', value };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function hostReason(value: Record<string, unknown>): string {
  if (value['state'] === 'timed-out') return 'it timed out';
  if (value['state'] === 'stopped') return 'it was stopped';
  return typeof value['exitCode'] === 'number' ? `exit code ${value['exitCode']}` : 'it could not be run';
}

const RECEIPT_STATES = ['delivered', 'queued', 'missed', 'failed'];

function receiptOf(key: string, value: unknown): { key: string; state: string; error?: unknown } {
  const receipt = isObject(value) ? value : {};
  const state = receipt['state'];
  if (typeof state !== 'string' || !RECEIPT_STATES.includes(state)) {
    return { key, state: 'failed', error: 'The host gave no receipt.' };
  }
  return { ...receipt, key, state };
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

function usedNothing(usage: unknown): boolean {
  return isObject(usage) && Object.values(usage).every((value) => typeof value !== 'number' || value === 0);
}

function lastMessageEmpty(message: unknown): boolean {
  if (message === undefined) return true;
  return isObject(message) && message['stopReason'] === 'error' && message['errorMessage'] === ABORTED && !text(message['text']) && (message['usage'] === undefined || usedNothing(message['usage']));
}

/**
 * Where the calls of a script arrive. The desk checks them, knows which keys are in use, and remembers which promise of the
 * script waits for which operation. It holds nothing that a script can reach and starts nothing itself.
 */
import {
  hostFaults,
  isKeyedRead,
  keyFault,
  lanesFaults,
  launchFaults,
  launchFingerprint,
  REMOVED_LAUNCH_FIELDS,
  stageKey,
  steerFaults,
} from '../../../protocol/index.ts';
import { type Answer, type Call, CONSOLE_LEVELS, type ConsoleLevel, type Delivery, type ErrorKind, type LaunchCall, type Unobserved } from './calls.ts';
import { type ChildView, fateOf, isObject } from './child-result.ts';
import { LaneBoard, type LaneInput, type StageLaunch } from './lane-board.ts';
import {
  MAX_CONSOLE_CHARS,
  MAX_CONSOLE_ENTRIES,
  MAX_EMIT_CHARS,
  MAX_EMITS,
  MAX_EMITS_CHARS,
  MAX_HOST_CALLS,
  MAX_OPERATIONS,
  MAX_PENDING,
  MAX_STATE_BYTES,
} from './limits.ts';
import { Refusal, refuse, refuseFaults } from './refusal.ts';

/** What a promise of the script is settled with: the arguments of the prelude's `settle`. */
export interface Settlement {
  promise: number;
  kind: 'child' | 'batch' | 'json' | 'undefined' | 'error';
  text: string;
}

interface Child {
  id: number;
  key: string;
  fingerprint: string;
  view: ChildView | undefined;
  /** Called once, with the result. */
  /** Set when it was refused: what the error of `runs.run` is. */
  refused: ErrorKind | undefined;
  waiting: ((view: ChildView) => void)[];
}

interface Other {
  type: 'steer' | 'host' | 'status' | 'state';
  key: string;
  promise: number;
}

export class Desk {
  #calls: Call[] = [];
  #settlements: Settlement[] = [];
  readonly #children = new Map<string, Child>();
  readonly #childById = new Map<number, Child>();
  readonly #others = new Map<number, Other>();
  readonly #hostKeys = new Set<string>();
  /** Which children a promise of the script stands for. Those of lanes grow. */
  readonly #childrenOf = new Map<number, number[]>();
  /** Steers and host steps, in the order of the calls. */
  readonly #mustBeObserved: { type: 'steer' | 'host'; key: string; promise: number }[] = [];
  #lastId = 0;
  #operations = 0;
  #pending = 0;
  #emits = 0;
  #emitChars = 0;
  #consoleEntries = 0;
  #consoleChars = 0;

  /** One call of the script. @throws Refusal */
  ask(name: string, texts: readonly string[]): void {
    const [first = '', second = '', third = '', fourth = ''] = texts;
    switch (name) {
      case 'run':
        return this.#run(Number(first), JSON.parse(second), JSON.parse(third));
      case 'all':
        return this.#all(Number(first), JSON.parse(second));
      case 'lanes':
        return this.#lanes(Number(first), JSON.parse(second));
      case 'steer':
        return this.#steer(Number(first), JSON.parse(second), JSON.parse(third), JSON.parse(fourth));
      case 'host':
        return this.#host(Number(first), JSON.parse(second), JSON.parse(third));
      case 'status':
        return this.#status(Number(first), JSON.parse(second));
      case 'state.get':
        return this.#stateGet(Number(first), JSON.parse(second));
      case 'state.set':
        return this.#stateSet(Number(first), JSON.parse(second), third);
      case 'emit':
        return this.#emit(first);
      case 'console':
        return this.#console(first, second);
      case 'keyed':
        return this.#keyed(first);
      case 'fields':
        return this.#fields(first, JSON.parse(second));
      default:
        throw new Refusal('engine', `The engine does not know the call ${name}.`);
    }
  }

  // ---- children

  #run(promise: number, key: unknown, params: unknown): void {
    const checked = this.#checkLaunch(key, params, 'runs.run');
    this.#batch([checked]);
    const child = this.#child(checked.key);
    this.#childrenOf.set(promise, [child.id]);
    this.#whenSettled(child, (view) => {
      const fate = fateOf(view);
      if (fate.resolves) this.#settle(promise, 'child', JSON.stringify(view));
      else this.#reject(promise, child.refused ?? fate.kind, fate.message);
    });
  }

  #all(promise: number, items: unknown): void {
    if (!Array.isArray(items)) refuse('runs.all takes an array of {key, agent, task} items.');
    const list: unknown[] = items;
    const checked = list.map((item, index) => {
      if (!isObject(item)) return refuse(`Item ${index} of runs.all is no object; it must be {key, agent, task}.`);
      const { key, ...params } = item;
      return this.#checkLaunch(key, params, `runs.all item ${index}`);
    });
    this.#batch(checked);
    this.#gather(
      promise,
      checked.map(({ key }) => this.#child(key)),
    );
  }

  /** Settles the promise when all children have, with their results in this order. */
  #gather(promise: number, children: Child[]): void {
    this.#childrenOf.set(
      promise,
      children.map(({ id }) => id),
    );
    const views = new Array<ChildView | undefined>(children.length);
    let missing = children.length;
    const done = () => this.#settle(promise, 'batch', `[${views.map((view) => JSON.stringify(view)).join(',')}]`);
    if (missing === 0) done();
    children.forEach((child, index) => {
      this.#whenSettled(child, (view) => {
        views[index] = view;
        missing -= 1;
        if (missing === 0) done();
      });
    });
  }

  /** The rules of a launch by itself. */
  #checkLaunch(key: unknown, params: unknown, what: string): { key: string; params: Record<string, unknown> } {
    refuseFaults(keyFault(key, `key of ${what}`));
    if (typeof key !== 'string') return refuse(`The key of ${what} must be a string.`);
    if (!isObject(params)) return refuse(`The parameters of ${what} must be an object like {agent, task}.`);
    refuseFaults(launchFaults(params, { what, key }), what === 'runs.run' ? '' : `${what}: `);
    return { key, params };
  }

  /** Launches what is new and uses what is there. Either every item is right, or nothing happens. */
  #batch(items: readonly { key: string; params: Record<string, unknown> }[], lanes = false): void {
    const fresh = new Map<string, { fingerprint: string; params: Record<string, unknown> }>();
    for (const { key, params } of items) {
      if (this.#hostKeys.has(key)) refuse(`The key '${key}' is already in use by a host command of this workflow.`);
      const fingerprint = launchFingerprint(params);
      const known = this.#children.get(key)?.fingerprint ?? fresh.get(key)?.fingerprint;
      if (known === undefined) fresh.set(key, { fingerprint, params });
      else if (known !== fingerprint) {
        refuse(`The key '${key}' is a duplicate key with incompatible launch parameters. Give each launch a key of its own.`);
      }
    }
    this.#count(items.length, fresh.size);
    const call: Extract<Call, { type: 'batch' }> = { type: 'batch', items: [] };
    for (const { key } of items) {
      const found = fresh.get(key);
      if (!found || this.#children.has(key)) {
        call.items.push({ reuse: key });
        continue;
      }
      const child: Child = { id: ++this.#lastId, key, fingerprint: found.fingerprint, view: undefined, refused: undefined, waiting: [] };
      this.#children.set(key, child);
      this.#childById.set(child.id, child);
      const launch: LaunchCall = { id: child.id, key, params: found.params, ...(lanes ? { generatedLaneKey: true } : {}) };
      call.items.push({ launch });
    }
    if (call.items.length > 0) this.#calls.push(call);
  }

  #child(key: string): Child {
    const child = this.#children.get(key);
    if (!child) throw new Refusal('engine', `The child '${key}' is not there.`);
    return child;
  }

  #whenSettled(child: Child, then: (view: ChildView) => void): void {
    if (child.view) then(child.view);
    else child.waiting.push(then);
  }

  // ---- lanes

  #lanes(promise: number, input: unknown): void {
    refuseFaults(lanesFaults(input), 'runs.lanes: ');
    const lanes = readLanes(input);
    for (const lane of lanes) {
      for (const { key: stage, ...params } of lane.stages) {
        const key = stageKey(lane.key, stage);
        if (this.#hostKeys.has(key)) refuse(`runs.lanes: the key '${key}' is already in use by a host command.`);
        const known = this.#children.get(key);
        if (!known) continue;
        if (params['resume'] === 'previous' || known.fingerprint !== launchFingerprint(params)) {
          refuse(`runs.lanes: the key '${key}' is a duplicate key with incompatible launch parameters.`);
        }
      }
    }
    const board = new LaneBoard(lanes);
    const ids: number[] = [];
    this.#childrenOf.set(promise, ids);
    const follow = ({ lane, key }: StageLaunch): void => {
      const child = this.#child(key);
      ids.push(child.id);
      this.#whenSettled(child, (view) => {
        const next = board.settled(lane, view);
        if (next) launch(next);
        if (board.finished) this.#settle(promise, 'json', JSON.stringify(board.rows()));
      });
    };
    const launch = (next: StageLaunch): void => {
      try {
        this.#batch([next], true);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        board.refused(next.lane, error.message);
        return;
      }
      follow(next);
    };
    const first = board.first();
    this.#batch(first, true);
    for (const stage of first) follow(stage);
  }

  // ---- everything else

  #steer(promise: number, key: unknown, message: unknown, options: unknown): void {
    refuseFaults(steerFaults(key, message, options));
    if (typeof key !== 'string' || typeof message !== 'string' || !isObject(options)) return;
    if (!this.#children.has(key)) {
      refuse(`runs.steer: there is no child '${key}' in this workflow; steering requires a prior launch.`);
    }
    const id = this.#open('steer', key, promise);
    this.#calls.push({ type: 'steer', id, key, message: message.trim(), options });
  }

  #host(promise: number, key: unknown, params: unknown): void {
    refuseFaults(keyFault(key, 'key of runs.host'));
    if (typeof key !== 'string') return;
    if (!isObject(params)) return refuse('The parameters of runs.host must be an object like {kind, command, timeoutMs}.');
    refuseFaults(hostFaults(params));
    if (this.#hostKeys.has(key) || this.#children.has(key)) {
      refuse(`The key '${key}' of runs.host is already in use in this workflow; keys of host commands cannot be used twice.`);
    }
    if (this.#hostKeys.size >= MAX_HOST_CALLS) {
      throw new Refusal('limit', `A workflow can make at most ${MAX_HOST_CALLS} calls of runs.host.`);
    }
    const id = this.#open('host', key, promise);
    this.#hostKeys.add(key);
    this.#calls.push({ type: 'host', id, key, params });
  }

  #status(promise: number, target: unknown): void {
    if (typeof target !== 'string' || target.trim() === '') {
      return refuse('runs.status takes the key of a child or a run id: a string that is not blank.');
    }
    const wanted = target.trim();
    const id = this.#open('status', wanted, promise);
    this.#calls.push({ type: 'status', id, target: wanted, runId: this.#children.get(wanted)?.view?.runId ?? wanted });
  }

  #stateGet(promise: number, key: unknown): void {
    refuseFaults(keyFault(key, 'key of state.get'));
    if (typeof key === 'string') this.#calls.push({ type: 'state.get', id: this.#open('state', key, promise), key });
  }

  #stateSet(promise: number, key: unknown, value: string): void {
    refuseFaults(keyFault(key, 'key of state.set'));
    const size = Buffer.byteLength(value);
    if (size > MAX_STATE_BYTES) {
      throw new Refusal('limit', `The value of state.set has ${size} bytes; at most ${MAX_STATE_BYTES} are possible.`);
    }
    if (typeof key === 'string') this.#calls.push({ type: 'state.set', id: this.#open('state', key, promise), key, value });
  }

  #emit(text: string): void {
    if (text.length > MAX_EMIT_CHARS) {
      throw new Refusal('limit', `The emitted value has ${text.length} characters as JSON; at most ${MAX_EMIT_CHARS} are possible.`);
    }
    if (this.#emits >= MAX_EMITS || this.#emitChars + text.length > MAX_EMITS_CHARS) {
      throw new Refusal('limit', `A workflow can emit at most ${MAX_EMITS} values with ${MAX_EMITS_CHARS} characters together.`);
    }
    this.#emits += 1;
    this.#emitChars += text.length;
    this.#calls.push({ type: 'emit', value: text });
  }

  #console(level: string, text: string): void {
    if (this.#consoleEntries > MAX_CONSOLE_ENTRIES) return;
    this.#consoleEntries += 1;
    this.#consoleChars += text.length;
    const full = this.#consoleEntries > MAX_CONSOLE_ENTRIES || this.#consoleChars > MAX_CONSOLE_CHARS;
    if (full) this.#consoleEntries = MAX_CONSOLE_ENTRIES + 1;
    this.#calls.push({
      type: 'console',
      level: full ? 'warn' : readLevel(level),
      text: full ? 'Further console output was dropped: the workflow has written too much.' : text,
    });
  }

  #keyed(property: string): void {
    if (!isKeyedRead(property)) return;
    refuse(
      `The result of runs.all is an ordered array, not a map of keys: it has no "${property}". Use an index, array destructuring, map or find.`,
    );
  }

  #fields(call: string, names: unknown): void {
    if (!Array.isArray(names)) return;
    for (const name of names) {
      const advice = typeof name === 'string' && Object.hasOwn(REMOVED_LAUNCH_FIELDS, name) ? REMOVED_LAUNCH_FIELDS[name] : undefined;
      if (advice !== undefined) refuse(`${call} does not take "${name}": ${advice}.`);
    }
  }

  #open(type: Other['type'], key: string, promise: number): number {
    this.#count(1, 1);
    const id = ++this.#lastId;
    this.#others.set(id, { type, key, promise });
    if (type === 'steer' || type === 'host') this.#mustBeObserved.push({ type, key, promise });
    return id;
  }

  #count(operations: number, opened: number): void {
    if (this.#operations + operations > MAX_OPERATIONS) {
      throw new Refusal('limit', `A workflow can make at most ${MAX_OPERATIONS} calls.`);
    }
    if (this.#pending + opened > MAX_PENDING) {
      throw new Refusal('limit', `At most ${MAX_PENDING} calls can wait for an answer at the same time. Await some first.`);
    }
    this.#operations += operations;
    this.#pending += opened;
  }

  // ---- answers

  /** Takes an answer; what it settles is in `takeSettlements`. Answers to what is settled already are ignored. */
  deliver({ id, answer }: Delivery): void {
    const child = this.#childById.get(id);
    if (child) {
      if (child.view || answer.type !== 'child') return;
      this.#pending -= 1;
      child.view = answer.view;
      child.refused = answer.kind;
      for (const then of child.waiting.splice(0)) then(answer.view);
      return;
    }
    const other = this.#others.get(id);
    if (!other) return;
    this.#others.delete(id);
    this.#pending -= 1;
    this.#answer(other.promise, answer);
  }

  #answer(promise: number, answer: Answer): void {
    if (answer.type === 'refused') this.#reject(promise, answer.kind, answer.message);
    else if (answer.type === 'child') this.#settle(promise, 'child', JSON.stringify(answer.view));
    else if (answer.value === undefined) this.#settle(promise, 'undefined', '');
    else this.#settle(promise, 'json', JSON.stringify(answer.value));
  }

  #settle(promise: number, kind: Settlement['kind'], text: string): void {
    this.#settlements.push({ promise, kind, text });
  }

  #reject(promise: number, kind: string, message: string): void {
    this.#settle(promise, 'error', JSON.stringify({ kind, message }));
  }

  takeSettlements(): Settlement[] {
    const taken = this.#settlements;
    this.#settlements = [];
    return taken;
  }

  takeCalls(): Call[] {
    const taken = this.#calls;
    this.#calls = [];
    return taken;
  }

  /** What was started and depends on nothing that was awaited or returned. */
  unobserved(observedPromises: ReadonlySet<number>): Unobserved {
    const seen = new Set<number>();
    for (const promise of observedPromises) for (const id of this.#childrenOf.get(promise) ?? []) seen.add(id);
    const missing = (type: 'steer' | 'host') =>
      this.#mustBeObserved.filter((each) => each.type === type && !observedPromises.has(each.promise)).map(({ key }) => key);
    return {
      children: [...this.#children.values()].filter(({ id }) => !seen.has(id)).map(({ key }) => key),
      steers: missing('steer'),
      hosts: missing('host'),
    };
  }
}

function readLevel(level: string): ConsoleLevel {
  return CONSOLE_LEVELS.find((known) => known === level) ?? 'log';
}

/** After `lanesFaults` found nothing: the same, typed. */
function readLanes(input: unknown): LaneInput[] {
  const lanes: LaneInput[] = [];
  for (const lane of Array.isArray(input) ? input : []) {
    const stages: LaneInput['stages'] = [];
    for (const stage of Array.isArray(lane.stages) ? lane.stages : []) stages.push({ ...stage, key: String(stage.key) });
    lanes.push({ key: String(lane.key), stages });
  }
  return lanes;
}

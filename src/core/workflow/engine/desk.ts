/**
 * Where the calls of a script arrive. The desk checks them, knows which keys are in use, and remembers which promise of the
 * script waits for which operation. It holds nothing that a script can reach and starts nothing itself.
 */
import {
  hostFaults,
  isKeyedRead,
  keyFault,
  lanesFaults,
  launchFingerprint,
  type PlannedLane,
  REMOVED_LAUNCH_FIELDS,
  say,
  spellOut,
  stageKey,
  steerFaults,
} from '../../../protocol/index.ts';
import type { Answer, Call, Delivery, Unobserved } from './calls.ts';
import { type Child, ChildRegistry, checkLaunch } from './child-registry.ts';
import { type ChildView, fateOf, isObject } from './child-result.ts';
import { LaneBoard, type LaneInput, type StageLaunch } from './lane-board.ts';
import { MAX_HOST_CALLS, MAX_OPERATIONS, MAX_PENDING, MAX_STATE_BYTES } from './limits.ts';
import { Publications } from './publications.ts';
import { Refusal, refuse, refuseFaults } from './refusal.ts';

/** What a promise of the script is settled with: the arguments of the prelude's `settle`. */
export interface Settlement {
  promise: number;
  kind: 'child' | 'batch' | 'json' | 'undefined' | 'error';
  text: string;
}

/** An operation that is no launch. */
interface Other {
  type: 'steer' | 'host' | 'status' | 'state';
  key: string;
  promise: number;
}

export class Desk {
  #calls: Call[] = [];
  #settlements: Settlement[] = [];
  readonly #children = new ChildRegistry({
    nextId: () => ++this.#lastId,
    isHostKey: (key) => this.#hostKeys.has(key),
    count: (calls, waiting) => this.#count(calls, waiting),
  });
  readonly #publications = new Publications();
  readonly #others = new Map<number, Other>();
  readonly #hostKeys = new Set<string>();
  /** Which children a promise of the script stands for. Those of lanes grow. */
  readonly #childrenOf = new Map<number, number[]>();
  /** Steers and host steps, in the order of the calls. */
  readonly #mustBeObserved: Other[] = [];
  #lastId = 0;
  #operations = 0;
  #pending = 0;

  /** One call of the script. @throws Refusal */
  ask(name: string, texts: readonly string[]): void {
    const [first = '', second = '', third = '', fourth = ''] = texts;
    const promise = Number(first);
    if (name === 'run') this.#run(promise, JSON.parse(second), JSON.parse(third));
    else if (name === 'all') this.#all(promise, JSON.parse(second));
    else if (name === 'lanes') this.#lanes(promise, JSON.parse(second));
    else if (name === 'steer') this.#steer(promise, JSON.parse(second), JSON.parse(third), JSON.parse(fourth));
    else if (name === 'host') this.#host(promise, JSON.parse(second), JSON.parse(third));
    else if (name === 'status') this.#status(promise, JSON.parse(second));
    else if (name === 'state.get') this.#stateGet(promise, JSON.parse(second));
    else if (name === 'state.set') this.#stateSet(promise, JSON.parse(second), third);
    else if (name === 'emit') this.#call(this.#publications.emit(first));
    else if (name === 'console') this.#call(this.#publications.console(first, second));
    else if (name === 'keyed') refuseKeyedRead(first);
    else if (name === 'fields') refuseRemovedFields(first, JSON.parse(second));
    else throw new Refusal('engine', `The engine does not know the call ${name}.`);
  }

  #call(call: Call | undefined): void {
    if (call) this.#calls.push(call);
  }

  // ---- children

  #run(promise: number, key: unknown, params: unknown): void {
    const { children, call } = this.#children.batch([checkLaunch(key, params, 'runs.run')]);
    this.#call(call);
    for (const child of children) {
      this.#childrenOf.set(promise, [child.id]);
      this.#children.whenSettled(child, (view) => {
        const fate = fateOf(view);
        if (fate.resolves) this.#settle(promise, 'child', JSON.stringify(view));
        else this.#reject(promise, child.refused ?? fate.kind, fate.message);
      });
    }
  }

  #all(promise: number, items: unknown): void {
    if (!Array.isArray(items)) refuse('runs.all takes an array of {key, agent, task} items.');
    const list: unknown[] = items;
    const checked = list.map((item, index) => {
      if (!isObject(item)) return refuse(`Item ${index} of runs.all is no object; it must be {key, agent, task}.`);
      const { key, ...params } = item;
      return checkLaunch(key, params, `runs.all item ${index}`);
    });
    const { children, call } = this.#children.batch(checked);
    this.#call(call);
    this.#gather(promise, children);
  }

  /** Settles the promise when all children have, with their results in this order. */
  #gather(promise: number, children: readonly Child[]): void {
    const ids = children.map(({ id }) => id);
    this.#childrenOf.set(promise, ids);
    const texts = new Array<string>(children.length);
    let missing = children.length;
    const done = () => this.#settle(promise, 'batch', `[${texts.join(',')}]`);
    if (missing === 0) done();
    children.forEach((child, index) => {
      this.#children.whenSettled(child, (view) => {
        texts[index] = JSON.stringify(view);
        missing -= 1;
        if (missing === 0) done();
      });
    });
  }

  #lanes(promise: number, input: unknown): void {
    refuseFaults(lanesFaults(input), 'runs.lanes: ');
    const lanes = readLanes(input);
    this.#checkStageKeys(lanes);
    const board = new LaneBoard(lanes);
    const ids: number[] = [];
    const follow = (lane: number, child: Child): void => {
      ids.push(child.id);
      this.#children.whenSettled(child, (view: ChildView) => {
        const next = board.settled(lane, view);
        if (next) launch([next]);
        if (board.finished) this.#settle(promise, 'json', JSON.stringify(board.rows()));
      });
    };
    const launch = (stages: readonly StageLaunch[]): void => {
      try {
        const { children, call } = this.#children.batch(stages, true);
        this.#call(call);
        stages.forEach(({ lane }, index) => {
          const child = children[index];
          if (child) follow(lane, child);
        });
      } catch (error) {
        if (!(error instanceof Refusal) || ids.length === 0) throw error;
        for (const { lane } of stages) board.refused(lane, error.message);
      }
    };
    launch(board.first());
    this.#call({ type: 'lanes', lanes: lanes.map(plannedLane) });
    this.#childrenOf.set(promise, ids);
  }

  /** Stages whose children are there already: only with the same parameters, and never to resume. */
  #checkStageKeys(lanes: readonly LaneInput[]): void {
    for (const lane of lanes) {
      for (const { key: stage, ...params } of lane.stages) {
        const key = stageKey(lane.key, stage);
        if (this.#hostKeys.has(key)) refuse(`runs.lanes: the key '${key}' is already in use by a host command.`);
        const known = this.#children.find(key);
        if (!known || (params['resume'] !== 'previous' && known.fingerprint === launchFingerprint(params))) continue;
        refuse(`runs.lanes: the key '${key}' is a duplicate key with incompatible launch parameters.`);
      }
    }
  }

  // ---- everything else

  #steer(promise: number, key: unknown, message: unknown, options: unknown): void {
    refuseFaults(steerFaults(key, message, options));
    if (typeof key !== 'string' || typeof message !== 'string' || !isObject(options)) return;
    if (!this.#children.find(key)) {
      refuse(`runs.steer: there is no child '${key}' in this workflow; steering requires a prior launch.`);
    }
    const id = this.#open('steer', key, promise);
    this.#call({ type: 'steer', id, key, message: message.trim(), options });
  }

  #host(promise: number, key: unknown, params: unknown): void {
    refuseFaults(keyFault(key, say('key_of', { what: 'runs.host' })));
    if (typeof key !== 'string') return;
    if (!isObject(params)) refuse('The parameters of runs.host must be an object like {kind, command, timeoutMs}.');
    const given: Record<string, unknown> = isObject(params) ? params : {};
    refuseFaults(hostFaults(given));
    if (this.#hostKeys.has(key) || this.#children.find(key)) {
      refuse(
        `The key '${key}' of runs.host is already in use in this workflow; keys of host commands cannot be used twice.`,
      );
    }
    if (this.#hostKeys.size >= MAX_HOST_CALLS) {
      throw new Refusal('limit', `A workflow can make at most ${MAX_HOST_CALLS} calls of runs.host.`);
    }
    const id = this.#open('host', key, promise);
    this.#hostKeys.add(key);
    this.#call({ type: 'host', id, key, params: given });
  }

  #status(promise: number, target: unknown): void {
    if (typeof target !== 'string' || target.trim() === '') {
      throw new Refusal('validation', 'runs.status takes the key of a child or a run id: a string that is not blank.');
    }
    const wanted = target.trim();
    const id = this.#open('status', wanted, promise);
    this.#call({ type: 'status', id, target: wanted, runId: this.#children.find(wanted)?.view?.runId ?? wanted });
  }

  #stateGet(promise: number, key: unknown): void {
    refuseFaults(keyFault(key, say('key_of', { what: 'state.get' })));
    if (typeof key === 'string') this.#call({ type: 'state.get', id: this.#open('state', key, promise), key });
  }

  #stateSet(promise: number, key: unknown, value: string): void {
    refuseFaults(keyFault(key, say('key_of', { what: 'state.set' })));
    const size = Buffer.byteLength(value);
    if (size > MAX_STATE_BYTES) {
      throw new Refusal('limit', `The value of state.set has ${size} bytes; at most ${MAX_STATE_BYTES} are possible.`);
    }
    if (typeof key === 'string') this.#call({ type: 'state.set', id: this.#open('state', key, promise), key, value });
  }

  #open(type: Other['type'], key: string, promise: number): number {
    this.#count(1, 1);
    const id = ++this.#lastId;
    const other: Other = { type, key, promise };
    this.#others.set(id, other);
    if (type === 'steer' || type === 'host') this.#mustBeObserved.push(other);
    return id;
  }

  #count(calls: number, waiting: number): void {
    if (this.#operations + calls > MAX_OPERATIONS) {
      throw new Refusal('limit', `A workflow can make at most ${MAX_OPERATIONS} calls.`);
    }
    if (this.#pending + waiting > MAX_PENDING) {
      throw new Refusal(
        'limit',
        `At most ${MAX_PENDING} calls can wait for an answer at the same time. Await some first.`,
      );
    }
    this.#operations += calls;
    this.#pending += waiting;
  }

  // ---- answers

  /** Takes an answer; what it settles is in `takeSettlements`. Answers to what is settled already are ignored. */
  deliver({ id, answer }: Delivery): void {
    if (this.#children.isChild(id)) {
      if (this.#children.deliver(id, answer)) this.#pending -= 1;
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
    const missing = (type: Other['type']) =>
      this.#mustBeObserved
        .filter((each) => each.type === type && !observedPromises.has(each.promise))
        .map(({ key }) => key);
    return {
      children: this.#children.all.filter(({ id }) => !seen.has(id)).map(({ key }) => key),
      steers: missing('steer'),
      hosts: missing('host'),
    };
  }
}

function refuseKeyedRead(property: string): void {
  if (!isKeyedRead(property)) return;
  refuse(
    `The result of runs.all is an ordered array, not a map of keys: it has no "${property}". Use an index, array destructuring, map or find.`,
  );
}

function refuseRemovedFields(call: string, names: unknown): void {
  for (const name of Array.isArray(names) ? names : []) {
    const instead =
      typeof name === 'string' && Object.hasOwn(REMOVED_LAUNCH_FIELDS, name) && REMOVED_LAUNCH_FIELDS[name];
    if (instead) refuse(spellOut(say('launch_field_removed', { what: call, name, instead })));
  }
}

function plannedLane({ key, stages }: LaneInput): PlannedLane {
  const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null);
  return {
    key,
    stages: stages.map((stage) => ({
      key: stageKey(key, stage.key),
      label: text(stage['label']),
      agent: text(stage['agent']),
    })),
  };
}

/** After `lanesFaults` found nothing: the same, typed. */
function readLanes(input: unknown): LaneInput[] {
  const lanes: LaneInput[] = [];
  for (const lane of Array.isArray(input) ? input : []) {
    const stages: LaneInput['stages'] = [];
    for (const stage of Array.isArray(lane.stages) ? lane.stages : [])
      stages.push({ ...stage, key: String(stage.key) });
    lanes.push({ key: String(lane.key), stages });
  }
  return lanes;
}

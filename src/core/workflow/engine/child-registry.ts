/** The children of a workflow by key: which launches are new, which use a child that is there, and who waits for which. */
import { keyFault, launchFaults, launchFingerprint, say } from '../../../protocol/index.ts';
import type { Answer, Call, ErrorKind, LaunchCall } from './calls.ts';
import { type ChildView, isObject } from './child-result.ts';
import { refuse, refuseFaults } from './refusal.ts';

export interface Launch {
  key: string;
  params: Record<string, unknown>;
}

export interface Child {
  readonly id: number;
  readonly key: string;
  readonly fingerprint: string;
  view: ChildView | undefined;
  /** Set when it was refused: what the error of `runs.run` is. */
  refused: ErrorKind | undefined;
  /** Called once, with the result. */
  readonly waiting: ((view: ChildView) => void)[];
}

export interface RegistryOptions {
  nextId: () => number;
  isHostKey: (key: string) => boolean;
  /** Counts calls, and those of them that wait for an answer. Throws when there are too many. */
  count: (calls: number, waiting: number) => void;
}

/** The rules of one launch by itself. @throws Refusal */
export function checkLaunch(key: unknown, params: unknown, what: string): Launch {
  refuseFaults(keyFault(key, say('key_of', { what })));
  if (typeof key !== 'string') return refuse(`The key of ${what} must be a string.`);
  if (!isObject(params)) return refuse(`The parameters of ${what} must be an object like {agent, task}.`);
  refuseFaults(launchFaults(params, { what, key }), what === 'runs.run' ? '' : `${what}: `);
  return { key, params };
}

export class ChildRegistry {
  readonly #options: RegistryOptions;
  readonly #byKey = new Map<string, Child>();
  readonly #byId = new Map<number, Child>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  find(key: string): Child | undefined {
    return this.#byKey.get(key);
  }

  get all(): Child[] {
    return [...this.#byKey.values()];
  }

  /**
   * Launches what is new and uses what is there. Either every item is right, or nothing happens.
   * @returns the children in the order of the items, and the call, unless there are no items
   * @throws Refusal
   */
  batch(items: readonly Launch[], fromLanes = false): { children: Child[]; call: Call | undefined } {
    const fresh = this.#fresh(items);
    this.#options.count(items.length, fresh.size);
    const children: Child[] = [];
    const called: Extract<Call, { type: 'batch' }>['items'] = [];
    for (const { key, params } of items) {
      const known = this.#byKey.get(key);
      if (known) {
        called.push({ reuse: key });
        children.push(known);
        continue;
      }
      const id = this.#options.nextId();
      const fingerprint = fresh.get(key) ?? launchFingerprint(params);
      const child: Child = { id, key, fingerprint, view: undefined, refused: undefined, waiting: [] };
      this.#byKey.set(key, child);
      this.#byId.set(id, child);
      const launch: LaunchCall = { id, key, params, ...(fromLanes ? { generatedLaneKey: true } : {}) };
      called.push({ launch });
      children.push(child);
    }
    return { children, call: called.length > 0 ? { type: 'batch', items: called } : undefined };
  }

  /** Fingerprints of the keys that are new. */
  #fresh(items: readonly Launch[]): Map<string, string> {
    const fresh = new Map<string, string>();
    for (const { key, params } of items) {
      if (this.#options.isHostKey(key))
        refuse(`The key '${key}' is already in use by a host command of this workflow.`);
      const fingerprint = launchFingerprint(params);
      const known = this.#byKey.get(key)?.fingerprint ?? fresh.get(key);
      if (known === undefined) fresh.set(key, fingerprint);
      else if (known !== fingerprint) {
        refuse(
          `The key '${key}' is a duplicate key with incompatible launch parameters. Give each launch a key of its own.`,
        );
      }
    }
    return fresh;
  }

  whenSettled(child: Child, then: (view: ChildView) => void): void {
    if (child.view) then(child.view);
    else child.waiting.push(then);
  }

  /** @returns whether the answer settled a child */
  deliver(id: number, answer: Answer): boolean {
    const child = this.#byId.get(id);
    if (!child || child.view || answer.type !== 'child') return false;
    child.view = answer.view;
    child.refused = answer.kind;
    for (const then of child.waiting.splice(0)) then(answer.view);
    return true;
  }

  isChild(id: number): boolean {
    return this.#byId.has(id);
  }
}

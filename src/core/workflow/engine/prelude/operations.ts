/** The operations that wait for an answer from outside: their promises, and how an answer settles them. */
import { failure } from './boundary.ts';
import {
  create,
  NativeError,
  NativeProxy,
  NativeTypeError,
  parseJson,
  put,
  setPrototypeOf,
  sliceText,
  toText,
  trimText,
} from './primordials.ts';
import { open, type TrackedPromise, whenObserved } from './promise.ts';

export type Bridge = (operation: string, first?: string, second?: string, third?: string, fourth?: string) => string;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** Where the script asked. An answer that is an error shows this place. */
  readonly stack: unknown;
}

interface Refusal {
  readonly kind: string;
  readonly message: string;
}

const waiting: { [id: string]: Waiting } = create(null);
let lastId = 0;
let observedIds = '';
whenObserved((id) => {
  observedIds += `${observedIds ? ',' : ''}${toText(id)}`;
});

/** Numbers of the operations that were observed so far, separated by commas. */
export function observedOperations(): string {
  return observedIds;
}

/** How the outside is asked. It answers at once: with nothing, or with why it refuses, which is thrown. */
export function asking(bridge: Bridge): Bridge {
  // No list of arguments, and none that says nothing: each costs a crossing.
  return (operation, first = '', second = '', third = '', fourth = '') => {
    const few = third === '' && fourth === '';
    const answer = few ? bridge(operation, first, second) : bridge(operation, first, second, third, fourth);
    if (answer === '') return '';
    const { kind, message } = parseJson(answer) as Refusal;
    throw failure(kind, message);
  };
}

/** Asks for an operation whose answer comes later. */
export function operate(ask: Bridge, name: string, first = '', second = '', third = ''): TrackedPromise {
  const id = ++lastId;
  const { promise, resolve, reject } = open(id);
  waiting[id] = { resolve, reject, stack: new NativeError().stack };
  try {
    ask(name, toText(id), first, second, third);
  } catch (error) {
    delete waiting[id];
    throw error;
  }
  return promise;
}

/** The answer to an operation: `child`, `batch` and `json` are JSON text, `error` is a refusal. */
export function settle(id: string, kind: string, text: string, ask: Bridge): void {
  const found = waiting[id];
  if (!found) return;
  delete waiting[id];
  if (kind === 'error') {
    const refusal = parseJson(text) as Refusal;
    const error = failure(refusal.kind, refusal.message);
    put(error, 'stack', found.stack, false);
    found.reject(error);
  } else if (kind === 'undefined') found.resolve(undefined);
  else if (kind === 'child') found.resolve(readable(parseJson(text) as object));
  else if (kind === 'batch') found.resolve(ordered(parseJson(text) as object[], ask));
  else found.resolve(parseJson(text));
}

interface Named {
  readonly key?: unknown;
  readonly runId?: unknown;
  readonly output?: unknown;
}

/** `[run <key>; id=<first 8 characters>]` */
export function reference(result: unknown): string {
  if (typeof result !== 'object' || result === null) {
    throw new NativeTypeError('runs.ref takes a result of runs.run or runs.all');
  }
  const { key, runId } = result as Named;
  const id = typeof runId === 'string' ? sliceText(runId, 0, 8) : 'unknown';
  return `[run ${typeof key === 'string' ? key : 'unknown'}; id=${id}]`;
}

const conversion = {
  toString(this: unknown): string {
    const output = (this as Named | undefined)?.output;
    const text = typeof output === 'string' ? trimText(output) : '';
    return text === '' ? reference(this) : text;
  },
};

/** A child's result reads as its output where text is wanted. */
function readable(result: object): object {
  put(result, 'toString', conversion.toString, false);
  return result;
}

/** Results in the order of the items. Reading them by key would silently be `undefined`; here it says what to do. */
function ordered(results: object[], ask: Bridge): unknown {
  for (let index = 0; index < results.length; index++) readable(results[index] as object);
  const handler: ProxyHandler<object[]> = {
    get(target, property) {
      if (typeof property === 'string' && !(property in target)) ask('keyed', property);
      return (target as unknown as Record<PropertyKey, unknown>)[property];
    },
  };
  return new NativeProxy(results, setPrototypeOf(handler, null));
}

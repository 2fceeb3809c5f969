/**
 * The `Promise` of scripts. It behaves as the native one and knows besides which promises a promise depends on, so that it can
 * be told at the end whether the outcome of an operation flowed into something that the body awaited or returned.
 *
 * Only `await`, `return` and `for await` call `then` with the engine's own resolving functions; that marks the promise and,
 * from source to source, everything it came from.
 */
import {
  apply,
  defineProperty,
  freeze,
  functionText,
  getOwnPropertyDescriptor,
  hasOwn,
  isObject,
  List,
  NativePromise,
  NativeTypeError,
  Notes,
  nativeStatics,
  nativeThen,
} from './primordials.ts';

type Settle = (value?: unknown) => unknown;
type Callable = (...args: unknown[]) => unknown;

/** Tells the constructor that a promise is made here, without an executor. */
const INTERNAL = (): void => {};

/** The promise whose handler is running: what is resolved meanwhile depends on it. */
let running: TrackedPromise | undefined;

/** Resolving functions that scripts hold, and the promise each of them resolves. */
const resolverOf = new Notes<TrackedPromise>();

let observed: (operation: number) => void = () => {};

/** Calls `listener` with the number of an operation as soon as the body awaits or returns something that depends on it. */
export function whenObserved(listener: (operation: number) => void): void {
  observed = listener;
}

/** `await`, `return` and `for await` hand over nameless native functions; a script gets such functions only from them. */
function isEngineCall(handler: unknown): boolean {
  if (typeof handler !== 'function' || resolverOf.get(handler) || hasOwn(handler, 'prototype')) return false;
  if (getOwnPropertyDescriptor(handler, 'name')?.value !== '') return false;
  return functionText(handler) === 'function () {\n    [native code]\n}';
}

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function';
}

class TrackedPromise {
  readonly #native: Promise<unknown>;
  #settle: { readonly resolve: Settle; readonly reject: Settle } | undefined;
  #sources: List<TrackedPromise> | undefined = new List();
  #operation = -1;

  /** Public: `new Promise(executor)`. Without a native promise given, one is made that `resolve` and `reject` settle. */
  constructor(executor: unknown, native?: Promise<unknown>) {
    if (!isCallable(executor)) throw new NativeTypeError('Promise resolver is not a function');
    if (executor === INTERNAL && native) {
      this.#native = native;
      return;
    }
    let resolve: Settle = INTERNAL;
    let reject: Settle = INTERNAL;
    this.#native = new NativePromise((first, second) => {
      resolve = first;
      reject = second;
    });
    this.#settle = { resolve, reject };
    if (executor === INTERNAL) return;
    const { resolver, rejecter } = TrackedPromise.#resolvers(this);
    try {
      executor(resolver, rejecter);
    } catch (error) {
      TrackedPromise.#reject(this, error);
    }
  }

  static #resolvers(self: TrackedPromise): { resolver: Settle; rejecter: Settle } {
    const dependOnHandler = (): void => {
      if (running && self.#settle) TrackedPromise.#depend(running, self);
    };
    const resolver = (value?: unknown): void => {
      dependOnHandler();
      TrackedPromise.#resolve(self, value);
    };
    const rejecter = (reason?: unknown): void => {
      dependOnHandler();
      TrackedPromise.#reject(self, reason);
    };
    resolverOf.put(resolver, self);
    resolverOf.put(rejecter, self);
    return { resolver, rejecter };
  }

  // ---- what it depends on

  static #depend(on: TrackedPromise, self: TrackedPromise): void {
    if (self.#sources) self.#sources.push(on);
    else TrackedPromise.#consume(on);
  }

  /** Marks a promise and everything it came from. A list instead of recursion: chains are thousands of links long. */
  static #consume(first: TrackedPromise): void {
    const open = new List<TrackedPromise>();
    open.push(first);
    for (let next = open.pop(); next; next = open.pop()) {
      const sources = next.#sources;
      if (!sources) continue;
      next.#sources = undefined;
      if (next.#operation >= 0) observed(next.#operation);
      for (let index = 0; index < sources.length; index++) open.push(sources.at(index) as TrackedPromise);
    }
  }

  static #resolve(self: TrackedPromise, value: unknown): void {
    const settle = self.#settle;
    if (!settle) return;
    self.#settle = undefined;
    if (value === self) {
      settle.reject(new NativeTypeError('A promise cannot be resolved with itself'));
      return;
    }
    settle.resolve(TrackedPromise.#flatten(self, value));
  }

  static #reject(self: TrackedPromise, reason: unknown): void {
    const settle = self.#settle;
    if (!settle) return;
    self.#settle = undefined;
    settle.reject(reason);
  }

  /** What a native promise may be resolved with instead of `value`: never something whose `then` would count as awaited. */
  static #flatten(self: TrackedPromise, value: unknown): unknown {
    if (!isObject(value)) return value;
    if (#native in value) {
      TrackedPromise.#depend(value, self);
      return value.#native;
    }
    let then: unknown;
    try {
      then = (value as { then?: unknown }).then;
    } catch (error) {
      return rejected(error);
    }
    if (!isCallable(then)) return value;
    const inner = new TrackedPromise(INTERNAL);
    TrackedPromise.#depend(inner, self);
    const method = then;
    const { resolver, rejecter } = TrackedPromise.#resolvers(inner);
    nativeThen(NativePromise.resolve(), () => {
      try {
        apply(method, value, [resolver, rejecter]);
      } catch (error) {
        TrackedPromise.#reject(inner, error);
      }
    });
    return inner.#native;
  }

  /** Runs a handler of `self`; what it returns becomes a source. */
  static #handle(self: TrackedPromise, handler: Callable, value: unknown): unknown {
    const before = running;
    running = self;
    try {
      return TrackedPromise.#flatten(self, handler(value));
    } finally {
      running = before;
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: it is the promise of the realm
  then(onFulfilled?: unknown, onRejected?: unknown): TrackedPromise | undefined {
    if (isEngineCall(onFulfilled)) {
      TrackedPromise.#consume(this);
      nativeThen(this.#native, onFulfilled as Settle, onRejected as Settle);
      return undefined;
    }
    let derived: TrackedPromise | undefined;
    const wrap = (handler: unknown): Settle | undefined =>
      isCallable(handler) ? (value) => TrackedPromise.#handle(derived as TrackedPromise, handler, value) : undefined;
    derived = new TrackedPromise(INTERNAL, nativeThen(this.#native, wrap(onFulfilled), wrap(onRejected)));
    TrackedPromise.#depend(this, derived);
    TrackedPromise.#feeds(derived, onFulfilled);
    TrackedPromise.#feeds(derived, onRejected);
    return derived;
  }

  /** A resolving function as handler: its promise depends on this one, even if it never settles. */
  static #feeds(derived: TrackedPromise, handler: unknown): void {
    const fed = isCallable(handler) ? resolverOf.get(handler) : undefined;
    // biome-ignore lint/complexity/useOptionalChain: a private name cannot stand in an optional chain
    if (fed && fed.#settle) TrackedPromise.#depend(derived, fed);
  }

  catch(onRejected?: unknown): TrackedPromise | undefined {
    return this.then(undefined, onRejected);
  }

  finally(handler?: unknown): TrackedPromise | undefined {
    if (!isCallable(handler)) return this.then(handler, handler);
    let derived: TrackedPromise | undefined;
    const first = (): Promise<unknown> => {
      const self = derived as TrackedPromise;
      const result = TrackedPromise.#handle(self, () => handler(), undefined);
      return new NativePromise((resolve) => resolve(result));
    };
    derived = new TrackedPromise(
      INTERNAL,
      nativeThen(
        this.#native,
        (value) => nativeThen(first(), () => value),
        (reason) =>
          nativeThen(first(), () => {
            throw reason;
          }),
      ),
    );
    TrackedPromise.#depend(this, derived);
    return derived;
  }

  get [Symbol.toStringTag](): string {
    return 'Promise';
  }

  // ---- statics

  static resolve(value?: unknown): TrackedPromise {
    if (isObject(value) && #native in value) return value;
    const promise = new TrackedPromise(INTERNAL);
    TrackedPromise.#resolve(promise, value);
    return promise;
  }

  static reject(reason?: unknown): TrackedPromise {
    const promise = new TrackedPromise(INTERNAL);
    TrackedPromise.#reject(promise, reason);
    return promise;
  }

  static withResolvers(): object {
    let resolve: unknown;
    let reject: unknown;
    const promise = new TrackedPromise((first: unknown, second: unknown) => {
      resolve = first;
      reject = second;
    });
    return { promise, resolve, reject };
  }

  static try(work: unknown, ...args: unknown[]): TrackedPromise {
    const promise = new TrackedPromise(INTERNAL);
    try {
      TrackedPromise.#resolve(promise, apply(work as Callable, undefined, args));
    } catch (error) {
      TrackedPromise.#reject(promise, error);
    }
    return promise;
  }

  /** One of the native combinations over the promises inside; the result depends on all items. */
  static #combine(method: Callable, items: unknown): TrackedPromise {
    const natives = new List<Promise<unknown>>();
    const sources = new List<TrackedPromise>();
    try {
      for (const item of items as Iterable<unknown>) {
        const promise = TrackedPromise.resolve(item);
        sources.push(promise);
        natives.push(promise.#native);
      }
    } catch (error) {
      return TrackedPromise.reject(error);
    }
    const native = apply(method, NativePromise, [natives.iterable()]) as Promise<unknown>;
    const result = new TrackedPromise(INTERNAL, native);
    for (let index = 0; index < sources.length; index++) {
      TrackedPromise.#depend(sources.at(index) as TrackedPromise, result);
    }
    return result;
  }

  static all(items?: unknown): TrackedPromise {
    return TrackedPromise.#combine(nativeStatics.all as Callable, items);
  }

  static allSettled(items?: unknown): TrackedPromise {
    return TrackedPromise.#combine(nativeStatics.allSettled as Callable, items);
  }

  static race(items?: unknown): TrackedPromise {
    return TrackedPromise.#combine(nativeStatics.race as Callable, items);
  }

  static any(items?: unknown): TrackedPromise {
    return TrackedPromise.#combine(nativeStatics.any as Callable, items);
  }

  // ---- for the prelude only; taken off the class before the script sees it

  static readonly internals = {
    isTracked: (value: unknown): value is TrackedPromise => isObject(value) && #native in value,
    /** A promise for an operation of the outside, and the functions that settle it. */
    open(operation: number): { promise: TrackedPromise; resolve: Settle; reject: Settle } {
      const promise = new TrackedPromise(INTERNAL);
      promise.#operation = operation;
      const { resolve, reject } = promise.#settle as { resolve: Settle; reject: Settle };
      promise.#settle = undefined;
      return { promise, resolve, reject };
    },
    /** A promise that the prelude settles and that depends on what it is told to. */
    derive(): { promise: TrackedPromise; resolve: Settle; reject: Settle; depend: (on: TrackedPromise) => void } {
      const promise = new TrackedPromise(INTERNAL);
      return {
        promise,
        resolve: (value) => TrackedPromise.#resolve(promise, value),
        reject: (reason) => TrackedPromise.#reject(promise, reason),
        depend: (on) => TrackedPromise.#depend(on, promise),
      };
    },
    /** Waits without counting as an observation. */
    wait(promise: TrackedPromise, onFulfilled: (value: unknown) => void, onRejected: (reason: unknown) => void): void {
      nativeThen(promise.#native, onFulfilled, onRejected);
    },
  };
}

function rejected(reason: unknown): Promise<unknown> {
  return new NativePromise((_, reject) => reject(reason));
}

export type { TrackedPromise };
export const { isTracked, open, derive, wait } = TrackedPromise.internals;
export const toTracked: (value: unknown) => TrackedPromise = TrackedPromise.resolve;
export const combineAll: (items: unknown) => TrackedPromise = TrackedPromise.all;

/** Puts the promise of scripts where the native one stood, and takes away every way to the native one. */
export function installPromise(): void {
  Reflect.deleteProperty(TrackedPromise, 'internals');
  defineProperty(TrackedPromise, 'name', { value: 'Promise' });
  defineProperty(TrackedPromise, 'length', { value: 1 });
  // `import()` still makes native promises: what a script chains to one is tracked again.
  const chain = {
    // biome-ignore lint/suspicious/noThenProperty: it is the method of promises
    then(this: Promise<unknown>, onFulfilled?: unknown, onRejected?: unknown): unknown {
      if (!isEngineCall(onFulfilled)) return new TrackedPromise(INTERNAL, this).then(onFulfilled, onRejected);
      nativeThen(this, onFulfilled as Settle, onRejected as Settle);
      return undefined;
    },
  };
  defineProperty(NativePromise.prototype, 'then', { value: chain.then });
  defineProperty(NativePromise.prototype, 'constructor', { value: TrackedPromise });
  freeze(NativePromise.prototype);
  freeze(NativePromise);
  freeze(TrackedPromise.prototype);
  freeze(TrackedPromise);
  defineProperty(globalThis, 'Promise', {
    value: TrackedPromise,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

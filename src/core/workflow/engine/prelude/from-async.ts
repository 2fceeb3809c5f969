/** `Array.fromAsync` over tracked promises: the native one is an async function and would hide what it waits for. */
import {
  apply,
  asyncIteratorSymbol,
  isObject,
  iteratorSymbol,
  List,
  NativeTypeError,
  put,
  toArray,
  toNumber,
} from './primordials.ts';
import { derive, isTracked, type TrackedPromise, toTracked, wait } from './promise.ts';

type Step = { readonly done?: unknown; readonly value?: unknown };
type Cursor = { next: () => unknown; asynchronous: boolean };

function cursorOf(items: unknown): Cursor {
  if (items === null || items === undefined) throw new NativeTypeError('cannot iterate over null or undefined');
  const source = items as { [asyncIteratorSymbol]?: unknown; [iteratorSymbol]?: unknown };
  const asyncMethod = source[asyncIteratorSymbol];
  if (asyncMethod !== undefined && asyncMethod !== null) return iterating(items, asyncMethod, true);
  const method = source[iteratorSymbol];
  if (method !== undefined && method !== null) return iterating(items, method, false);
  const indexed = items as { readonly length?: unknown; readonly [index: number]: unknown };
  const length = toNumber(indexed.length) || 0;
  let index = 0;
  return {
    next: () => (index < length ? { done: false, value: indexed[index++] } : { done: true, value: undefined }),
    asynchronous: false,
  };
}

function iterating(items: unknown, method: unknown, asynchronous: boolean): Cursor {
  const found = apply(method as () => { next: () => unknown }, items, []);
  const next = found.next;
  return { next: () => apply(next, found, []), asynchronous };
}

function fromAsync(items: unknown, mapper?: unknown, receiver?: unknown): TrackedPromise {
  const result = derive();
  const found = new List<unknown>();
  const follow = (value: unknown, next: (value: unknown) => void): void => {
    const promise = toTracked(value);
    result.depend(promise);
    wait(
      promise,
      (settled) => {
        try {
          next(settled);
        } catch (error) {
          result.reject(error);
        }
      },
      result.reject,
    );
  };
  try {
    if (mapper !== undefined && typeof mapper !== 'function') throw new NativeTypeError('not a function');
    const cursor = cursorOf(items);
    const keep = (value: unknown): void => {
      found.push(value);
      advance();
    };
    const take = (value: unknown): void => {
      if (typeof mapper === 'function') follow(apply(mapper as () => unknown, receiver, [value, found.length]), keep);
      else keep(value);
    };
    const read = (step: unknown): void => {
      if (!isObject(step)) throw new NativeTypeError('iterator must return an object');
      if ((step as Step).done) result.resolve(toArray(found));
      else if (cursor.asynchronous) take((step as Step).value);
      else follow((step as Step).value, take);
    };
    const advance = (): void => {
      const step = cursor.next();
      if (cursor.asynchronous || isTracked(step)) follow(step, read);
      else read(step);
    };
    advance();
  } catch (error) {
    result.reject(error);
  }
  return result.promise;
}

export function installFromAsync(): void {
  put(Array, 'fromAsync', fromAsync, false);
}

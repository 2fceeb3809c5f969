/**
 * The built-ins as they were before the script could touch them. Code of the prelude uses these, and no method, iterator
 * or accessor that the script could have replaced.
 */

const { apply, getPrototypeOf, ownKeys } = Reflect;
const { call } = Function.prototype;

/** A method as a function whose first argument is `this`. */
function uncurry<This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
): (self: This, ...args: Args) => Result {
  return call.bind(method) as (self: This, ...args: Args) => Result;
}

export { apply, getPrototypeOf, ownKeys, uncurry };

export const {
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  hasOwn,
  create,
  prototype: objectPrototype,
  setPrototypeOf,
} = Object;
export const { isArray, prototype: arrayPrototype } = Array;
export const { isFinite: isFiniteNumber } = Number;
export const { stringify: quoteJson, parse: parseJson } = JSON;
export const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
export const objectTag = uncurry(Object.prototype.toString);
export const functionText = uncurry(Function.prototype.toString);
export const sliceText = uncurry(String.prototype.slice);
export const trimText = uncurry(String.prototype.trim);
const charCode = uncurry(String.prototype.charCodeAt);
export const toText = String;
export const symbolText = uncurry(Symbol.prototype.toString);

export const toNumber = Number;
export const iteratorSymbol: typeof Symbol.iterator = Symbol.iterator;
export const asyncIteratorSymbol: typeof Symbol.asyncIterator = Symbol.asyncIterator;

export const NativeError = Error;
export const NativeTypeError = TypeError;
export const NativeSyntaxError = SyntaxError;
export const NativeProxy = Proxy;
const NativeWeakSet = WeakSet;
const NativeWeakMap = WeakMap;
export const isError: (value: unknown) => value is Error = Reflect.get(Error, 'isError');

export const NativePromise = Promise;
export const nativeThen = uncurry(Promise.prototype.then);
export const nativeStatics = {
  all: Promise.all,
  allSettled: Promise.allSettled,
  race: Promise.race,
  any: Promise.any,
};

/** A set of objects whose methods the script cannot have replaced. */
export class Marks {
  readonly #set = new NativeWeakSet<object>();
  static readonly #add = uncurry(WeakSet.prototype.add);
  static readonly #has = uncurry(WeakSet.prototype.has);
  static readonly #remove = uncurry(WeakSet.prototype.delete);

  add(value: object): void {
    Marks.#add(this.#set, value);
  }

  has(value: object): boolean {
    return Marks.#has(this.#set, value);
  }

  remove(value: object): void {
    Marks.#remove(this.#set, value);
  }
}

/** What is known about objects; the script cannot have replaced its methods. */
export class Notes<Value> {
  readonly #map = new NativeWeakMap<object, Value>();
  static readonly #get = uncurry(WeakMap.prototype.get);
  static readonly #put = uncurry(WeakMap.prototype.set);

  get(about: object): Value | undefined {
    return Notes.#get(this.#map, about) as Value | undefined;
  }

  put(about: object, value: Value): void {
    Notes.#put(this.#map, about, value);
  }
}

/** A list that no setter on `Object.prototype` or `Array.prototype` can see. */
export class List<Item> {
  readonly #items: { [index: number]: Item } = create(null);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    this.#items[this.#length++] = item;
  }

  pop(): Item | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#items[--this.#length];
    delete this.#items[this.#length];
    return item;
  }

  at(index: number): Item | undefined {
    return this.#items[index];
  }

  /** The items behind an interface that only reads by index. */
  toNames(): readonly Item[] {
    return this.#items as unknown as readonly Item[];
  }

  /** An iterable that does not look at `Array.prototype`. */
  iterable(): Iterable<Item> {
    const items = this.#items;
    const length = this.#length;
    return {
      [iteratorSymbol]() {
        let index = 0;
        return {
          next: (): IteratorResult<Item> => {
            const done = index >= length;
            return { done, value: done ? undefined : items[index++] } as IteratorResult<Item>;
          },
        };
      },
    };
  }
}

/** Defines a data property, whatever setters the prototypes have. */
export function put(target: object, name: PropertyKey, value: unknown, enumerable = true): void {
  defineProperty(target, name, {
    __proto__: null,
    value,
    enumerable,
    writable: true,
    configurable: true,
  } as PropertyDescriptor);
}

/** An array of the realm with these items. */
export function toArray<Item>(list: List<Item>): Item[] {
  const array: Item[] = [];
  for (let index = 0; index < list.length; index++) put(array, index, list.at(index));
  return array;
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Whether a name can stand behind a dot. Regular expressions would call `exec`, which the script may have replaced. */
export function isSimpleName(name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    const code = charCode(name, index);
    const letter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 36;
    if (!letter && !(index > 0 && code >= 48 && code <= 57)) return false;
  }
  return name !== '';
}

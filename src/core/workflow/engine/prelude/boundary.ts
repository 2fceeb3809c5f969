/**
 * The border between the script and everything else: a value leaves as JSON text, written here in one walk that runs no
 * method the script could have replaced. Accessors are read; what they return counts.
 */
import {
  arrayPrototype,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  isFiniteNumber,
  isObject,
  isSimpleName,
  List,
  Marks,
  NativeError,
  NativeTypeError,
  Notes,
  objectPrototype,
  ownKeys,
  quoteJson,
  symbolText,
  toText,
} from './primordials.ts';
import { isTracked } from './promise.ts';

/** `strict`: `undefined` is refused. `return`: it becomes `null`, and properties that are `undefined` are left out. */
export type BoundaryMode = 'strict' | 'return';

/** Characters of JSON of one value. */
export const MAX_VALUE_CHARS = 8 * 1024 * 1024;
const MAX_DEPTH = 1000;
/** Steps of a long path that are named, from its beginning and its end. */
const PATH_HEAD = 16;
const PATH_TAIL = 4;

/** Why errors of our own arose, by error. A script cannot forge it. */
const kinds = new Notes<string>();

/** An error of the realm with a kind that survives until the end of the workflow. */
export function failure(kind: string, message: string): Error {
  const error = kind === 'boundary' ? new NativeTypeError(message) : new NativeError(message);
  kinds.put(error, kind);
  defineProperty(error, 'kind', { value: kind, enumerable: false, writable: true, configurable: true });
  return error;
}

export function kindOf(error: unknown): string | undefined {
  return isObject(error) ? kinds.get(error) : undefined;
}

interface Frame {
  readonly value: object;
  /** Names of properties; for arrays `undefined`. */
  readonly names: readonly PropertyKey[] | undefined;
  readonly length: number;
  index: number;
  wrote: boolean;
}

function pathOf(root: string, frames: List<Frame>): string {
  let path = root;
  for (let depth = 0; depth < frames.length; depth++) {
    // Nobody finds a place by a thousand steps.
    if (depth === PATH_HEAD && frames.length > PATH_HEAD + PATH_TAIL) {
      path += '…';
      depth = frames.length - PATH_TAIL;
    }
    const frame = frames.at(depth) as Frame;
    if (!frame.names) path += `[${toText(frame.index)}]`;
    else {
      const name = toText(frame.names[frame.index]);
      path += isSimpleName(name) ? `.${name}` : `[${quoteJson(name)}]`;
    }
  }
  return path;
}

/** What a refused value is called in messages. */
function kindName(value: object): string {
  if (isTracked(value)) return 'a Promise';
  try {
    const prototype = getPrototypeOf(value);
    const maker = prototype && (getOwnPropertyDescriptor(prototype, 'constructor')?.value as { name?: unknown });
    const name = maker && getOwnPropertyDescriptor(maker, 'name')?.value;
    if (typeof name === 'string' && name !== '') return `an instance of ${name}`;
  } catch {
    // A hostile proxy; the general word will do.
  }
  return 'an object with a prototype of its own';
}

/**
 * The value as JSON text; `undefined` at the root with mode `return` becomes `null`.
 * @param root what the path in messages begins with: `return`, `emit`
 * @throws an error of kind `boundary` that names the path and the rule, or what an accessor threw
 */
export function toJsonText(value: unknown, root: string, mode: BoundaryMode): string {
  const frames = new List<Frame>();
  const above = new Marks();
  let text = '';
  const refuse = (rule: string): never => {
    throw failure('boundary', `${pathOf(root, frames)} ${rule}`);
  };

  const tooLarge = (): never => {
    throw failure('limit', `${root} has more than ${toText(MAX_VALUE_CHARS)} characters as JSON`);
  };

  /** Writes a value that has nothing inside, or opens a frame. `false`: an `undefined` that may be left out. */
  const write = (item: unknown): void => {
    if (item === null) text += 'null';
    else if (typeof item === 'string') text += quoteJson(item.length > MAX_VALUE_CHARS ? tooLarge() : item);
    else if (typeof item === 'boolean') text += item ? 'true' : 'false';
    else if (typeof item === 'number') {
      if (!isFiniteNumber(item)) refuse(`is ${toText(item)}; only finite numbers can cross`);
      text += quoteJson(item);
    } else if (item === undefined && mode === 'return') text += 'null';
    else if (typeof item !== 'object') refuse(`must be a JSON value; it is ${nameOfType(item)}`);
    else enter(item as object);
  };

  const enter = (item: object): void => {
    if (above.has(item)) refuse('is a cycle: it contains itself');
    if (frames.length >= MAX_DEPTH) refuse(`is nested deeper than ${toText(MAX_DEPTH)} levels`);
    const prototype = getPrototypeOf(item);
    const keys = isTracked(item) ? refuse(`must be plain JSON; it is a Promise. Await it first`) : ownKeys(item);
    let names: List<PropertyKey> | undefined;
    let length = 0;
    if (isArray(item)) {
      if (prototype !== arrayPrototype) refuse(`must be a plain JSON array; it is ${kindName(item)}`);
      length = item.length;
    } else {
      if (prototype !== objectPrototype && prototype !== null) {
        refuse(`must be a plain JSON object; it is ${kindName(item)}`);
      }
      names = new List();
    }
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as PropertyKey;
      const shown = getOwnPropertyDescriptor(item, key)?.enumerable === true;
      if (typeof key === 'symbol') {
        if (shown) refuse(`has the symbol key ${symbolText(key)}; JSON has no symbol keys`);
      } else if (shown) names?.push(key);
    }
    above.add(item);
    text += names ? '{' : '[';
    frames.push({
      value: item,
      names: names ? names.toNames() : undefined,
      length: names ? names.length : length,
      index: -1,
      wrote: false,
    });
  };

  const checkSize = (): void => {
    if (text.length > MAX_VALUE_CHARS) tooLarge();
  };

  write(value);
  for (let frame = frames.at(frames.length - 1); frame; frame = frames.at(frames.length - 1)) {
    frame.index++;
    checkSize();
    if (frame.index >= frame.length) {
      text += frame.names ? '}' : ']';
      above.remove(frame.value);
      frames.pop();
      continue;
    }
    const name = frame.names ? (frame.names[frame.index] as PropertyKey) : frame.index;
    if (!frame.names && !hasOwn(frame.value, name)) refuse('is missing: sparse arrays cannot cross');
    const item = (frame.value as Record<PropertyKey, unknown>)[name];
    if (frame.names && item === undefined && mode === 'return') continue;
    if (frame.wrote) text += ',';
    frame.wrote = true;
    if (frame.names) text += `${quoteJson(name as string)}:`;
    write(item);
  }
  checkSize();
  return text;
}

export function nameOfType(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  return isArray(value) ? 'an array' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

/** The names of a value's own properties as JSON text: for rules about which fields exist at all. */
export function ownNames(value: unknown): string {
  let text = '';
  if (isObject(value) && !isArray(value)) {
    const keys = ownKeys(value);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index];
      if (typeof key === 'string') text += `${text ? ',' : ''}${quoteJson(key)}`;
    }
  }
  return `[${text}]`;
}

/** How `console` shows a value: strings as they are, everything else in the manner of a console, four levels deep. */
import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isArray,
  isError,
  isObject,
  isSimpleName,
  Marks,
  objectPrototype,
  objectTag,
  ownKeys,
  quoteJson,
  sliceText,
  symbolText,
  toText,
} from './primordials.ts';
import { isTracked } from './promise.ts';

const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
/** Characters of one entry. */
const MAX_CHARS = 8192;

export function consoleText(values: readonly unknown[]): string {
  let text = '';
  for (let index = 0; index < values.length && text.length <= MAX_CHARS; index++) {
    const value = values[index];
    text += `${index > 0 ? ' ' : ''}${typeof value === 'string' ? value : inspect(value)}`;
  }
  return text.length > MAX_CHARS ? `${sliceText(text, 0, MAX_CHARS - 3)}...` : text;
}

export function inspect(value: unknown): string {
  let room = MAX_CHARS;
  const above = new Marks();

  const show = (item: unknown, depth: number): string => {
    const text = isObject(item) ? showObject(item, depth) : showPrimitive(item);
    room -= text.length;
    return text;
  };

  const showObject = (item: object, depth: number): string => {
    if (typeof item === 'function') {
      const name = getOwnPropertyDescriptor(item, 'name')?.value;
      return typeof name === 'string' && name !== '' ? `[Function: ${name}]` : '[Function]';
    }
    if (isTracked(item)) return 'Promise {}';
    if (above.has(item)) return '[Circular]';
    if (isError(item)) return errorText(item);
    const list = isArray(item);
    const tag = sliceText(objectTag(item), 8, -1);
    const plain = getPrototypeOf(item) === objectPrototype || getPrototypeOf(item) === null;
    const head = list || plain ? '' : `${tag} `;
    if (depth > MAX_DEPTH) return list ? '[Array]' : `[${plain ? 'Object' : tag}]`;
    above.add(item);
    const keys = ownKeys(item);
    let inner = '';
    let shown = 0;
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as PropertyKey;
      const property = getOwnPropertyDescriptor(item, key);
      if (!property?.enumerable) continue;
      if (shown === MAX_ITEMS || room <= 0) {
        inner += ', ...';
        break;
      }
      inner += shown++ > 0 ? ', ' : '';
      if (!list) inner += `${keyText(key)}: `;
      inner += 'value' in property ? show(property.value, depth + 1) : '[Getter]';
    }
    above.remove(item);
    if (list) return `[${inner}]`;
    return `${head}{${inner ? ` ${inner} ` : ''}}`;
  };
  try {
    return show(value, 0);
  } catch {
    return '[uninspectable value]';
  }
}

function keyText(key: PropertyKey): string {
  if (typeof key === 'symbol') return `[${symbolText(key)}]`;
  const name = toText(key);
  return isSimpleName(name) ? name : quoteJson(name);
}

function showPrimitive(value: unknown): string {
  if (typeof value === 'string') return quoteJson(value);
  if (typeof value === 'bigint') return `${toText(value)}n`;
  if (typeof value === 'symbol') return symbolText(value);
  return toText(value);
}

function errorText(error: Error): string {
  const { name, message, stack } = describeError(error);
  return stack ? `${name}: ${message}\n${sliceText(stack, 0, -1)}` : `${name}: ${message}`;
}

/** Name, message and stack of what was thrown, whatever it is: reading a hostile value must not throw again. */
export function describeError(thrown: unknown): { name: string; message: string; stack: string } {
  const read = (name: string): string => {
    try {
      const value = (thrown as Record<string, unknown>)[name];
      return typeof value === 'string' ? value : '';
    } catch {
      return '';
    }
  };
  if (!isObject(thrown)) return { name: 'Error', message: toTextSafely(thrown), stack: '' };
  if (isError(thrown)) return { name: read('name') || 'Error', message: read('message'), stack: read('stack') };
  const message = read('message');
  return { name: read('name') || 'Error', message: message || inspect(thrown), stack: '' };
}

function toTextSafely(value: unknown): string {
  return typeof value === 'string' ? value : showPrimitive(value);
}

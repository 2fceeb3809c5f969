/** What a script sees: `runs`, `emit`, `console`, `args` and, where there is one, `state`. */
import { failure, nameOfType, ownNames, toJsonText } from './boundary.ts';
import { consoleText } from './inspect.ts';
import { type Bridge, operate, reference } from './operations.ts';
import {
  defineProperty,
  freeze,
  isArray,
  List,
  NativeSyntaxError,
  NativeTypeError,
  parseJson,
  put,
  quoteJson,
  toText,
} from './primordials.ts';
import { combineAll, isTracked } from './promise.ts';

/** Keys go out as they are; what is not text is refused outside, where the rule stands. */
function keyText(key: unknown): string {
  return typeof key === 'string' ? quoteJson(key) : 'null';
}

export function installApi(ask: Bridge, options: { args: string; state: boolean }): void {
  /** Parameters as JSON. Fields that no launch may have are refused by name, even where their value is none. */
  const parameters = (value: unknown, call: string, root = `${call} params`): string => {
    try {
      return toJsonText(value, root, 'strict');
    } catch (error) {
      if (call !== 'runs.host') ask('fields', call, ownNames(value));
      throw error;
    }
  };

  const run = (key: unknown, params: unknown) => operate(ask, 'run', keyText(key), parameters(params, 'runs.run'));

  let warned = false;
  /** Launches that are under way, mixed with items: there is no batch any more. */
  const allOfPromises = (items: readonly unknown[]) => {
    if (!warned) {
      warned = true;
      ask(
        'console',
        'warn',
        'runs.all was given promises of launches. They are not one batch: nothing is checked before all start, and a failed child throws at the await of runs.all. Give it {key, agent, task} objects to collect failures.',
      );
    }
    const promises = new List<unknown>();
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      if (isTracked(item)) promises.push(item);
      else {
        const { key, ...params } = (item ?? {}) as { key?: unknown };
        promises.push(run(key, params));
      }
    }
    return combineAll(promises.iterable());
  };

  const all = (items: unknown) => {
    if (!isArray(items)) {
      throw failure('validation', `runs.all takes an array of {key, agent, task} items; it got ${nameOfType(items)}`);
    }
    for (let index = 0; index < items.length; index++) if (isTracked(items[index])) return allOfPromises(items);
    let text = '';
    for (let index = 0; index < items.length; index++) {
      const root = `runs.all items[${toText(index)}]`;
      text += `${index > 0 ? ',' : ''}${parameters(index in items ? items[index] : null, root, root)}`;
    }
    return operate(ask, 'all', `[${text}]`);
  };

  const runs = {
    run: (key: unknown, params: unknown) => run(key, params),
    all: (items: unknown) => all(items),
    lanes: (lanes: unknown) => operate(ask, 'lanes', toJsonText(lanes, 'runs.lanes', 'strict')),
    steer: (key: unknown, message: unknown, options?: unknown) =>
      operate(
        ask,
        'steer',
        keyText(key),
        toJsonText(message, 'runs.steer message', 'return'),
        options === undefined ? '{}' : toJsonText(options, 'runs.steer options', 'strict'),
      ),
    host: (key: unknown, params: unknown) => operate(ask, 'host', keyText(key), parameters(params, 'runs.host')),
    status: (keyOrRunId: unknown) => operate(ask, 'status', keyText(keyOrRunId)),
    ref: (result: unknown) => reference(result),
    refs: (results: unknown) => {
      if (!isArray(results))
        throw new NativeTypeError(`runs.refs takes an array of results; it got ${nameOfType(results)}`);
      let text = '';
      for (let index = 0; index < results.length; index++) {
        text += `${index > 0 ? '\n' : ''}${reference(results[index])}`;
      }
      return text;
    },
  };
  const level =
    (name: string) =>
    (...values: unknown[]) => {
      ask('console', name, consoleText(values));
    };
  const console = { log: level('log'), info: level('info'), warn: level('warn'), error: level('error') };
  const globals: [string, unknown][] = [
    ['runs', sealed(runs)],
    ['console', sealed(console)],
    ['emit', named('emit', (value: unknown) => void ask('emit', toJsonText(value, 'emit', 'strict')))],
    ['args', options.args === '' ? undefined : parseJson(options.args)],
  ];
  if (options.state) {
    const state = {
      get: (key: unknown) => operate(ask, 'state.get', keyText(key)),
      set: (key: unknown, value: unknown) => {
        const root = `state.set(${typeof key === 'string' ? `'${key}'` : nameOfType(key)}) value`;
        return operate(ask, 'state.set', keyText(key), toJsonText(value, root, 'strict'));
      },
    };
    globals[globals.length] = ['state', sealed(state)];
  }
  for (const [name, value] of globals) put(globalThis, name, value, false);
}

function named<Callable extends object>(name: string, callable: Callable): Callable {
  defineProperty(callable, 'name', { value: name });
  return freeze(callable);
}

function sealed(members: Record<string, object>): object {
  for (const [name, member] of Object.entries(members)) named(name, member);
  return freeze(members);
}

/** A failed `JSON.parse` says that it was one: the engine's text speaks only of what it found. */
export function nameJsonParse(): void {
  const wrapper = {
    parse(text: unknown, reviver?: unknown): unknown {
      try {
        return parseJson(text as string, reviver as undefined);
      } catch (error) {
        if (reviver === undefined && error instanceof NativeSyntaxError) {
          put(error, 'message', `JSON.parse: ${error.message}`, false);
        }
        throw error;
      }
    },
  };
  put(JSON, 'parse', wrapper.parse, false);
}

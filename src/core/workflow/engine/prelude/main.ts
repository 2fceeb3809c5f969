/**
 * The first code of a realm: takes away what scripts must not have, puts the API in place and gives back the functions by which
 * the outside moves the script. Runs before the script and keeps every built-in it needs for itself.
 */
import { installApi, nameJsonParse } from './api.ts';
import { failure, kindOf, toJsonText } from './boundary.ts';
import { installFromAsync } from './from-async.ts';
import { describeError } from './inspect.ts';
import { asking, type Bridge, observedOperations, settle } from './operations.ts';
import { nativeThen, quoteJson } from './primordials.ts';
import { installPromise } from './promise.ts';
import { cleanStacks } from './stacks.ts';

const REMOVED = ['queueMicrotask', 'SharedArrayBuffer', 'escape', 'unescape', 'AsyncDisposableStack'];

function realm(bridge: Bridge): object {
  const ask = asking(bridge);
  let body: (() => Promise<unknown>) | undefined;

  const failed = (thrown: unknown, place = ''): void => {
    const { name, message, stack } = describeError(thrown);
    const kind = kindOf(thrown) ?? 'script';
    const text = `{"kind":${quoteJson(kind)},"name":${quoteJson(name)},"message":${quoteJson(message)},"stack":${quoteJson(stack)}}`;
    bridge('failed', text, place);
  };
  const finished = (value: unknown): void => {
    let text: string;
    try {
      text = toJsonText(value, 'return', 'return');
    } catch (error) {
      failed(error, 'return');
      return;
    }
    bridge('done', text, observedOperations());
  };

  return {
    __proto__: null,
    prepare(args: string, state: string): void {
      installApi(ask, { args, state: state === 'true' });
    },
    begin(script: () => Promise<unknown>): void {
      body = script;
    },
    start(): void {
      const script = body;
      body = undefined;
      if (!script) throw failure('engine', 'there is no script to start');
      nativeThen(script(), finished, (thrown: unknown) => failed(thrown));
    },
    settle(id: string, kind: string, text: string): void {
      settle(id, kind, text, ask);
    },
  };
}

for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
installPromise();
installFromAsync();
nameJsonParse();

/** @param opening how many characters stand before the script on its first line */
export default (bridge: Bridge, opening: number): object => {
  cleanStacks(opening);
  return realm(bridge);
};

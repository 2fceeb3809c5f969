/** A realm without the workflow around it: `runs.run` gives a promise that the test settles. For tests of the engine itself. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import prelude from '../../../src/core/workflow/engine/prelude/main.ts?vm';
import { quickJsEngine } from '../../../src/core/workflow/engine/quickjs.ts';
import { EngineFailure } from '../../../src/core/workflow/engine/script-engine.ts';
import { isKeyedRead } from '../../../src/protocol/index.ts';

const require = createRequire(import.meta.url);
let compiled: Promise<WebAssembly.Module> | undefined;

export function engineModule(): Promise<WebAssembly.Module> {
  compiled ??= readFile(require.resolve('quickjs-wasi/quickjs.wasm')).then((bytes) => WebAssembly.compile(bytes));
  return compiled;
}

export interface BareOutcome {
  value?: unknown;
  error?: { kind: string; name: string; message: string; stack: string };
  /** The body neither returned nor threw. */
  open?: true;
  failure?: EngineFailure;
  /** Keys of launches nothing awaited came from, in launch order. */
  unobserved: string[];
  emits: unknown[];
  console: string[];
  polls: number;
}

export interface BareOptions {
  /** Polls of the interrupt handler after which the script ends. */
  fuel?: number;
  /** When launches settle: at once, or one after the other in the order given here by key. */
  order?: string[];
  /** Keys of launches that fail. */
  failing?: string[];
  args?: unknown;
  heapBytes?: number;
  now?: () => number;
  seed?: number;
}

export async function runBare(script: string, options: BareOptions = {}): Promise<BareOutcome> {
  const outcome: BareOutcome = { unobserved: [], emits: [], console: [], polls: 0 };
  const calls: { id: string; key: string; name: string; settled: boolean }[] = [];
  let observed: string | undefined;
  const open = quickJsEngine(await engineModule());
  const realm = await open({
    prelude,
    limits: { heapBytes: options.heapBytes ?? 64 * 1024 * 1024 },
    now: options.now ?? (() => 1_700_000_000_000),
    seed: options.seed ?? 1,
    interrupt: () => ++outcome.polls > (options.fuel ?? 20_000),
    bridge: (name, ...texts) => {
      const [first = '', second = ''] = texts;
      if (name === 'done') {
        outcome.value = JSON.parse(first);
        observed = second;
      } else if (name === 'failed') outcome.error = JSON.parse(first);
      else if (name === 'emit') outcome.emits.push(JSON.parse(first));
      else if (name === 'console') outcome.console.push(`[${first}] ${second}`);
      else if (name === 'keyed')
        return isKeyedRead(first) ? JSON.stringify({ kind: 'validation', message: 'no index' }) : '';
      else calls.push({ id: first, key: second.replaceAll('"', ''), name, settled: false });
      return '';
    },
  });
  const settle = (call: (typeof calls)[number]) => {
    call.settled = true;
    if (options.failing?.includes(call.key)) {
      realm.call('settle', call.id, 'error', JSON.stringify({ kind: 'script', message: `Run '${call.key}' failed` }));
    } else if (call.name === 'all') {
      realm.call('settle', call.id, 'batch', JSON.stringify([{ key: 'x', ok: true, output: 'x!' }]));
    } else {
      realm.call('settle', call.id, 'child', JSON.stringify({ key: call.key, ok: true, output: `${call.key}!` }));
    }
    realm.drain();
  };
  try {
    realm.call('prepare', options.args === undefined ? '' : JSON.stringify(options.args), 'false');
    realm.load(script);
    realm.call('start');
    realm.drain();
    for (const key of options.order ?? []) {
      const call = calls.find((each) => each.key === key && !each.settled);
      if (call) settle(call);
    }
    for (
      let next = calls.find((call) => !call.settled);
      next && !over(outcome);
      next = calls.find((call) => !call.settled)
    ) {
      settle(next);
    }
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    outcome.failure = error;
  } finally {
    realm.dispose();
  }
  if (!over(outcome)) outcome.open = true;
  const seen = new Set((observed ?? '').split(','));
  outcome.unobserved = calls.filter((call) => !seen.has(call.id)).map((call) => call.key);
  return outcome;
}

function over(outcome: BareOutcome): boolean {
  return outcome.error !== undefined || 'value' in outcome || outcome.failure !== undefined;
}

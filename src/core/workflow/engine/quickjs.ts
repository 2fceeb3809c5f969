/**
 * QuickJS-ng in WebAssembly behind the door. The realm is created without code generation: the prelude was compiled when
 * this was built, the script is compiled in a second, plain realm, and nothing in the script's realm can make code of text.
 */
import { EvalFlags, Intrinsics, JSException, type JSValueHandle, MAX_STACK_SIZE, QuickJS } from 'quickjs-wasi';
import {
  EngineFailure,
  type OpenRealm,
  type RealmOptions,
  SCRIPT_NAME,
  type ScriptRealm,
  ScriptSyntaxError,
} from './script-engine.ts';

const INTRINSICS =
  (Intrinsics.ALL &
    ~Intrinsics.EVAL &
    ~Intrinsics.PERFORMANCE &
    ~Intrinsics.DOM_EXCEPTION &
    ~Intrinsics.ATOB_BTOA &
    ~Intrinsics.WEAK_REF) >>>
  0;

/** The compiler reads hostile text too. */
const COMPILER_HEAP_BYTES = 64 * 1024 * 1024;

/** Texts that go into the realm again and again: made once. */
const WORDS = ['', 'child', 'batch', 'json', 'undefined', 'error'];

/** What stands before the script on its first line. The prelude takes its length off the columns of that line. */
const OPENING = 'async()=>{';
const CLOSING = '\n}';

/** @param wasm the compiled engine; compiling it costs milliseconds and is done once per worker */
export function quickJsEngine(wasm: WebAssembly.Module): OpenRealm {
  return async (options) => {
    const compiler = await QuickJS.create({
      wasm,
      maxStackSize: MAX_STACK_SIZE,
      memoryLimit: COMPILER_HEAP_BYTES,
      wasi: (memory: WebAssembly.Memory) => ({ random_get: fillFrom(0, memory) }),
    });
    try {
      const vm = await createRealm(wasm, options);
      return new QuickJsRealm(vm, compiler, Buffer.from(options.prelude.bytecode, 'base64'), options.bridge);
    } catch (error) {
      compiler.dispose();
      throw error;
    }
  };
}

async function createRealm(wasm: WebAssembly.Module, options: RealmOptions): Promise<QuickJS> {
  // Math.random takes its seed from the first reading of the clock.
  let seeding = true;
  const vm = await QuickJS.create({
    wasm,
    maxStackSize: MAX_STACK_SIZE,
    memoryLimit: options.limits.heapBytes,
    interruptHandler: options.interrupt,
    timezoneOffset: 0,
    intrinsics: INTRINSICS,
    wasi: (memory: WebAssembly.Memory) => ({
      random_get: fillFrom(options.seed, memory),
      clock_time_get(_clock: number, _precision: bigint, result: number): number {
        const micros = seeding ? BigInt(options.seed) : BigInt(Math.trunc(options.now())) * 1000n;
        new DataView(memory.buffer).setBigUint64(result, micros * 1000n, true);
        return 0;
      },
    }),
  });
  seeding = false;
  return vm;
}

/** The random bytes that the engine asks for: the same ones from the same seed, and without loading the cryptography of Node. */
function fillFrom(seed: number, memory: WebAssembly.Memory): (at: number, length: number) => number {
  let state = (seed >>> 0) + 1;
  return (at, length) => {
    const bytes = new Uint8Array(memory.buffer, at, length);
    for (let index = 0; index < length; index++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      bytes[index] = state >>> 24;
    }
    return 0;
  };
}

class QuickJsRealm implements ScriptRealm {
  readonly #vm: QuickJS;
  readonly #compiler: QuickJS;
  readonly #table: JSValueHandle;
  readonly #functions = new Map<string, JSValueHandle>();
  readonly #words = new Map<string, JSValueHandle>();
  /** The last answer to the script that said something. The engine takes a copy. */
  #answer: JSValueHandle | undefined;

  constructor(vm: QuickJS, compiler: QuickJS, prelude: Uint8Array, bridge: RealmOptions['bridge']) {
    this.#vm = vm;
    this.#compiler = compiler;
    const make = vm.evalBytecode(prelude);
    const silent = vm.newString('');
    const outside = vm.newFunction('bridge', (operation, ...texts) => {
      const answer = bridge(operation?.toString() ?? '', ...texts.map((text) => text.toString()));
      this.#answer?.dispose();
      this.#answer = answer === '' ? undefined : vm.newString(answer);
      return this.#answer ?? silent;
    });
    for (const word of WORDS) this.#words.set(word, vm.newString(word));
    this.#table = vm.callFunction(make, vm.undefined, outside, vm.newNumber(OPENING.length));
  }

  load(script: string): void {
    const text = `${OPENING}${script}${CLOSING}`;
    let bytecode: Uint8Array;
    try {
      bytecode = this.#compiler.compile(text, SCRIPT_NAME);
    } catch (error) {
      throw this.#syntaxError(text, error);
    }
    const body = this.#guard(() => this.#vm.evalBytecode(bytecode));
    this.#guard(() => this.#vm.callFunction(this.#function('begin'), this.#vm.undefined, body));
    this.#compiler.dispose();
  }

  /** `compile` tells no place; evaluating without running does, in the stack. */
  #syntaxError(text: string, error: unknown): ScriptSyntaxError {
    const fallback =
      error instanceof Error ? error.message.replace(/^Compilation error: (?:SyntaxError: )?/, '') : String(error);
    try {
      this.#compiler.evalCode(text, SCRIPT_NAME, EvalFlags.COMPILE_ONLY).dispose();
    } catch (found) {
      if (!(found instanceof JSException)) return new ScriptSyntaxError(fallback);
      const at = /workflow\.js:(\d+):(\d+)/.exec(found.stack ?? '');
      if (!at) return new ScriptSyntaxError(found.message);
      const line = Number(at[1]);
      return new ScriptSyntaxError(found.message, line, Number(at[2]) - (line === 1 ? OPENING.length : 0));
    }
    return new ScriptSyntaxError(fallback);
  }

  call(name: string, ...texts: string[]): void {
    this.#guard(() => {
      const handles = texts.map((text) => this.#words.get(text) ?? this.#vm.newString(text));
      try {
        this.#vm.callFunction(this.#function(name), this.#vm.undefined, ...handles).dispose();
      } finally {
        for (const [index, handle] of handles.entries()) {
          if (!this.#words.has(texts[index] ?? '')) handle.dispose();
        }
      }
    });
  }

  drain(): void {
    this.#guard(() => this.#vm.executePendingJobs());
  }

  get heapBytes(): number {
    return this.#vm.getAllocatedSize();
  }

  dispose(): void {
    this.#compiler.dispose();
    this.#vm.dispose();
  }

  #function(name: string): JSValueHandle {
    let found = this.#functions.get(name);
    if (!found) {
      found = this.#table.getProp(name);
      this.#functions.set(name, found);
    }
    return found;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof EngineFailure) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (message === 'interrupted') throw new EngineFailure('interrupted', message);
      if (/out of memory|malloc failed|string too long/.test(message)) throw new EngineFailure('memory', message);
      throw new EngineFailure('engine', message);
    }
  }
}

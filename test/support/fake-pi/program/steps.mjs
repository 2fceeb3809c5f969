// What a plan can do besides letting the model speak. Each entry takes the value of the step's key, the step, and the
// context: `fake`, `signal` (abort or shutdown) and, while a prompt is worked on, `run`.
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bigRecord, flood } from './floods.mjs';
import { startGrandchild } from './grandchildren.mjs';
import { kindOf, PlanError } from './plan.mjs';
import { forever, LIFETIME_MS, pause, throwIfAborted, untilAborted, untilTrue } from './waiting.mjs';

/** Thrown by `accepting` steps that answer the prompt themselves. */
export class PromptAnswered extends Error {
  constructor(answer) {
    super('the prompt was answered');
    this.answer = answer;
  }
}

export async function runSteps(steps, context) {
  for (const step of steps ?? []) await runStep(step, context);
}

/** @throws Aborted, PlanError */
export async function runStep(step, context) {
  throwIfAborted(context.signal);
  const kind = kindOf(step);
  if (kind === 'turn') throw new PlanError(`no turn can be taken here: ${JSON.stringify(step)}`);
  await STEPS[kind](step[kind], step, context);
}

const STEPS = {
  wait: (ms, _step, { signal }) => pause(ms, signal),

  hang: async (mode, _step, { fake, signal }) => {
    if (mode === 'frozen') {
      await fake.output.flush();
      freeze();
    }
    if (mode === 'deaf') fake.stopListening();
    if (mode === 'stuck') {
      fake.isStuck = true;
      await forever();
    }
    await untilAborted(signal);
  },

  exit: async (code, { stderr }, { fake }) => {
    if (stderr !== undefined) await fake.errors.write(fake.expand(stderr));
    await fake.flush();
    process.exit(code);
  },

  kill: async (signal, _step, { fake }) => {
    await fake.flush();
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    await forever();
  },

  cpu: (ms) => {
    const begin = process.cpuUsage();
    const spent = () => {
      const { user, system } = process.cpuUsage(begin);
      return (user + system) / 1000;
    };
    while (spent() < ms);
  },

  emit: (record, { newline }, { fake }) => fake.output.record(record, { newline: newline ?? true }),
  line: (text, _step, { fake }) => fake.output.write(`${fake.expand(text)}\n`),
  raw: (text, _step, { fake }) => fake.output.write(text),
  hex: (text, _step, { fake }) => fake.output.write(Buffer.from(text.replaceAll(' ', ''), 'hex')),
  stderr: (text, _step, { fake }) => fake.errors.write(fake.expand(text)),
  flood: (of, step, { fake, signal }) => flood(of, step, fake, signal),
  big: (as, { bytes, willRetry }, { fake }) => fake.output.write(`${bigRecord(as, { bytes, willRetry }, fake)}\n`),

  split: (value, { gapMs }, { fake }) => {
    if (value === false || value === 0) fake.output.splitAt(undefined);
    else fake.output.splitAt(Array.isArray(value) ? { at: value, gapMs } : { every: value, gapMs });
  },

  grandchild: async (holds, step, { fake }) => {
    const pid = await startGrandchild(holds, step);
    fake.state.noteProcess('grandchild', pid);
    fake.facts.grandchildren.push(pid);
  },

  dialog: async (method, { timeout, ...fields }, { fake }) => {
    const answer = await fake.dialogs.ask(method, fields, timeout);
    fake.facts.answers.push(answer);
  },

  gate: (name, _step, { fake, signal }) => {
    const file = fake.state.arriveAt(name);
    return untilTrue(() => existsSync(file), signal);
  },

  await: (kind, _step, { fake, signal }) => untilTrue(() => fake.agent.hasQueued(kind), signal),

  deleteSession: (how, _step, { fake }) => fake.session.remove({ recreate: how === 'recreate' }),

  write: (file, { text = '' }, { fake }) => writeFileSync(resolve(file), fake.expand(text)),

  compaction: (reason, step, context) => context.fake.agent.compact(reason, step, () => runSteps(step.during, context)),

  agentEnd: (options, _step, { run }) => {
    if (!run) throw new PlanError('agentEnd has its place among the steps of a run');
    return run.emitAgentEnd(options);
  },

  refuse: (error) => {
    throw new PromptAnswered({ success: false, error });
  },

  handled: () => {
    throw new PromptAnswered({ success: true, disposition: 'handled' });
  },
};

/** Blocks the event loop: no command is read and no signal handler runs. Only SIGKILL ends it before its lifetime. */
function freeze() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LIFETIME_MS);
  process.kill(process.pid, 'SIGKILL');
}

import { type Ended, type ForceStopped, forceStopRun, interruptRun, stopRun } from '../../client/index.ts';
import { childProof, describeProof, processProof } from '../../core/runs/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { childOf } from '../child-option.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { nextStep, withNextStep } from '../next-step.ts';
import { locateRun } from './status.ts';

interface Options {
  json: boolean | undefined;
}

interface ChildOptions extends Options {
  /** Of a workflow: the child that is meant. */
  child: string | undefined;
}

/** Ends a run in one of three ways and says what is proven about its processes. */
async function end(
  context: CliContext,
  wanted: string,
  options: Options,
  act: (directory: string) => Promise<Ended | ForceStopped>,
): Promise<number> {
  const { store, runId, directory } = await locateRun(context, wanted);
  const ended = await act(directory);
  const { outcome } = ended;
  const note = 'note' in ended ? ended.note : null;
  const snapshot = await store.read(runId);
  const proof = snapshot.view && processProof(snapshot.view);
  if (options.json)
    printJson(context, {
      runId,
      outcome,
      state: snapshot.state,
      proof,
      ...(note ? { note: withNextStep(note, runId) } : {}),
    });
  else if (outcome === 'too-late') context.out(`Run ${runId} had ended already: ${snapshot.state}.`);
  else {
    const next = snapshot.state === 'paused' ? ` Go on with \`pi-lanes resume ${runId}\`.` : '';
    context.out(`Run ${runId} is ${snapshot.state}. Processes: ${proof ? describeProof(proof) : 'unknown'}.${next}`);
  }
  if (note && !options.json) context.err([note.message, nextStep(note, runId)].filter(Boolean).join('\n'));
  return note ? EXIT.runFailed : EXIT.ok;
}

/** Ends one child of a workflow; the others and the script go on. */
async function endChild(
  context: CliContext,
  wanted: string,
  { child: name, json }: { child: string } & Options,
  act: (directory: string, child: number) => Promise<Ended>,
): Promise<number> {
  const { store, runId, directory } = await locateRun(context, wanted);
  const found = await childOf(directory, name);
  const { index } = found;
  const { outcome } = await act(directory, index);
  const { view } = await store.read(runId);
  const child = view?.children.find((one) => one.index === index) ?? found;
  const { state, key = null } = child;
  const proof = childProof(child);
  if (json) printJson(context, { runId, child: index, key, outcome, state, proof });
  else if (outcome === 'too-late') context.out(visible(`The agent ${key ?? index} had ended already: ${state}.`));
  else
    context.out(
      visible(`The agent ${key ?? index} is ${state}; the workflow goes on. Processes: ${describeProof(proof)}.`),
    );
  return EXIT.ok;
}

export function stopCommand(context: CliContext, wanted: string, options: ChildOptions): Promise<number> {
  const act = (directory: string, child?: number) => stopRun(context.toolbox, directory, context.owner, child);
  const { child, json } = options;
  return child === undefined ? end(context, wanted, { json }, act) : endChild(context, wanted, { child, json }, act);
}

export function interruptCommand(context: CliContext, wanted: string, options: ChildOptions): Promise<number> {
  const act = (directory: string, child?: number) => interruptRun(context.toolbox, directory, context.owner, child);
  const { child, json } = options;
  return child === undefined ? end(context, wanted, { json }, act) : endChild(context, wanted, { child, json }, act);
}

export function forceStopCommand(context: CliContext, wanted: string, options: Options): Promise<number> {
  return end(context, wanted, options, (directory) => forceStopRun(context.toolbox, directory, context.owner));
}

import { type Ended, type ForceStopped, forceStopRun, interruptRun, stopRun } from '../../client/index.ts';
import { describeProof, processProof } from '../../core/runs/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { locateRun } from './status.ts';

interface Options {
  json: boolean | undefined;
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
  if (options.json) printJson(context, { runId, outcome, state: snapshot.state, proof, ...(note ? { note } : {}) });
  else if (outcome === 'too-late') context.out(`Run ${runId} had ended already: ${snapshot.state}.`);
  else {
    const next = snapshot.state === 'paused' ? ` Go on with \`pi-lanes resume ${runId}\`.` : '';
    context.out(`Run ${runId} is ${snapshot.state}. Processes: ${proof ? describeProof(proof) : 'unknown'}.${next}`);
  }
  if (note && !options.json) context.err(note.hint === undefined ? note.message : `${note.message}\n${note.hint}`);
  return note ? EXIT.runFailed : EXIT.ok;
}

export function stopCommand(context: CliContext, wanted: string, options: Options): Promise<number> {
  return end(context, wanted, options, (directory) => stopRun(context.toolbox, directory, context.owner));
}

export function interruptCommand(context: CliContext, wanted: string, options: Options): Promise<number> {
  return end(context, wanted, options, (directory) => interruptRun(context.toolbox, directory, context.owner));
}

export function forceStopCommand(context: CliContext, wanted: string, options: Options): Promise<number> {
  return end(context, wanted, options, (directory) => forceStopRun(context.toolbox, directory, context.owner));
}

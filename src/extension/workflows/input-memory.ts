/** What was typed for the inputs of each script, so that it need not be typed again. Remembered per workspace. */
import type * as vscode from 'vscode';

const KEY = 'workflow.inputs';
const MAX_SCRIPTS = 50;
/** Longer ones are not kept: mementos stay in memory. */
const MAX_CHARS = 10_000;

/** The newest script first. Under '' stands what was typed for all arguments together. */
type Kept = { script: string; typed: Record<string, string> }[];

export function typedBefore(state: vscode.Memento, script: string): Readonly<Record<string, string>> {
  return (state.get<Kept>(KEY) ?? []).find((one) => one.script === script)?.typed ?? {};
}

export async function rememberTyped(
  state: vscode.Memento,
  script: string,
  typed: Readonly<Record<string, string>>,
): Promise<void> {
  const others = (state.get<Kept>(KEY) ?? []).filter((one) => one.script !== script);
  const short = Object.entries({ ...typedBefore(state, script), ...typed }).filter(
    ([, text]) => text.length <= MAX_CHARS,
  );
  await state.update(KEY, [{ script, typed: Object.fromEntries(short) }, ...others].slice(0, MAX_SCRIPTS));
}

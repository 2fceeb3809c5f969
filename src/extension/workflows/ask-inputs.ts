/** Asks for the arguments of a script: one box for each input it reads, or one for all of them. */
import * as vscode from 'vscode';
import type { ScriptInput, ScriptInputs } from '../../protocol/index.ts';
import { rememberTyped, typedBefore } from './input-memory.ts';
import { type InputFault, readTyped, readTypedWhole, type TypedValue, toTyped } from './input-value.ts';

/** `undefined` as `args`: the workflow is started without any. */
export interface Given {
  args: unknown;
}

/** @param script under which it is remembered. `undefined`: a box was closed, nothing is to start. */
export async function askInputs(
  state: vscode.Memento,
  script: string,
  title: string,
  { named, isWhole }: ScriptInputs,
): Promise<Given | undefined> {
  if (isWhole) return askWhole(state, script, title, named);
  if (named.length === 0) return { args: undefined };
  const typed: Record<string, string> = { ...typedBefore(state, script) };
  const args: Record<string, unknown> = {};
  for (let at = 0; at < named.length; ) {
    const input = named[at];
    if (!input) break;
    const answer = await askBox({
      title,
      step: at + 1,
      totalSteps: named.length,
      prompt: promptOf(input),
      placeholder: placeholderOf(input),
      value: typed[input.name] ?? proposalOf(input),
      read: (text) => readTyped(text, input),
      // What is typed is kept at once: a box may be closed to look something up.
      onTyped: (text) => {
        typed[input.name] = text;
      },
    });
    await rememberTyped(state, script, typed);
    if (answer === undefined) return undefined;
    if (answer === 'back') {
      at -= 1;
      continue;
    }
    delete args[input.name];
    if (answer.value !== undefined) args[input.name] = answer.value;
    at += 1;
  }
  return { args };
}

async function askWhole(
  state: vscode.Memento,
  script: string,
  title: string,
  named: readonly ScriptInput[],
): Promise<Given | undefined> {
  let typed = typedBefore(state, script)[''] ?? templateOf(named);
  const answer = await askBox({
    title,
    prompt: vscode.l10n.t('The arguments of the script, as one JSON value. Leave it empty for none.'),
    placeholder: '{ "…": … }',
    value: typed,
    read: readTypedWhole,
    onTyped: (text) => {
      typed = text;
    },
  });
  await rememberTyped(state, script, { '': typed });
  return answer === undefined || answer === 'back' ? undefined : { args: answer.value };
}

/** An object with the fields that can be seen, to be filled in. */
function templateOf(named: readonly ScriptInput[]): string {
  if (named.length === 0) return '';
  const fields = named.map(
    ({ name, fallback, isList }) => `${JSON.stringify(name)}: ${fallback ?? (isList ? '[]' : '""')}`,
  );
  return `{ ${fields.join(', ')} }`;
}

/** What the script would take by itself, as a person would type it. */
function proposalOf({ fallback }: ScriptInput): string {
  return fallback === undefined ? '' : toTyped(JSON.parse(fallback));
}

function promptOf({ name, isList, isOptional }: ScriptInput): string {
  if (isList && isOptional) return vscode.l10n.t('{0}: a JSON list. Leave it empty to leave it out.', name);
  if (isList) return vscode.l10n.t('{0}: a JSON list', name);
  if (isOptional) return vscode.l10n.t('{0}: text or a JSON value. Leave it empty to leave it out.', name);
  return vscode.l10n.t('{0}: text or a JSON value', name);
}

function placeholderOf({ fallback, isList }: ScriptInput): string {
  if (fallback !== undefined) return vscode.l10n.t('left out: {0}', fallback);
  return isList ? '["…", "…"]' : '';
}

function faultWords(fault: InputFault): string {
  switch (fault.kind) {
    case 'missing':
      return vscode.l10n.t('The script needs a value. For the empty text write "".');
    case 'json':
      return vscode.l10n.t('This is no valid JSON: {0}. To give it as text, put it in quotes.', fault.reason);
    case 'list':
      return vscode.l10n.t('The script uses this as a list: write JSON such as ["one", "two"].');
    default:
      return fault satisfies never;
  }
}

interface Box {
  title: string;
  step?: number;
  totalSteps?: number;
  prompt: string;
  placeholder: string;
  value: string;
  read: (text: string) => TypedValue;
  onTyped: (text: string) => void;
}

/** `undefined`: closed. What is wrong is said below the box, and what was typed stays. */
function askBox(options: Box): Promise<{ value: unknown } | 'back' | undefined> {
  const { promise, resolve } = Promise.withResolvers<{ value: unknown } | 'back' | undefined>();
  const box = vscode.window.createInputBox();
  box.title = options.title;
  if (options.totalSteps !== undefined && options.totalSteps > 1) {
    box.step = options.step;
    box.totalSteps = options.totalSteps;
    if ((options.step ?? 1) > 1) box.buttons = [vscode.QuickInputButtons.Back];
  }
  box.prompt = options.prompt;
  box.placeholder = options.placeholder;
  box.value = options.value;
  box.ignoreFocusOut = true;
  const faultOf = (text: string) => {
    const typed = options.read(text);
    return 'fault' in typed ? typed.fault : undefined;
  };
  box.onDidChangeValue((text) => {
    options.onTyped(text);
    const fault = faultOf(text);
    // Whoever has only begun is not told that something is missing, or not closed yet, before Enter, unless it was told before.
    if (!fault || box.validationMessage) box.validationMessage = fault && faultWords(fault);
  });
  box.onDidAccept(() => {
    options.onTyped(box.value);
    const typed = options.read(box.value);
    if ('fault' in typed) {
      box.validationMessage = faultWords(typed.fault);
      return;
    }
    resolve(typed);
    box.hide();
  });
  box.onDidTriggerButton(() => {
    resolve('back');
    box.hide();
  });
  box.onDidHide(() => {
    resolve(undefined);
    box.dispose();
  });
  box.show();
  return promise;
}

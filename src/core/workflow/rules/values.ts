/** What leaves the script must be JSON: emitted values, state, the result. */
import { type NotJson, notJson } from '../literals.ts';
import { hasSpread, plainArguments, type Script } from '../script.ts';

export function checkValues(script: Script): void {
  for (const call of script.globalCalls('emit')) {
    const [value] = plainArguments(call);
    if (value) report(script, notJson(value, script.jsonRules(false)), 'emit takes JSON');
    else if (!hasSpread(call)) script.report('not_json', call, 'emit needs a value: emit(value).');
  }
  for (const call of script.globalCalls('state', 'set')) {
    const value = plainArguments(call)[1];
    if (value) report(script, notJson(value, script.jsonRules(false)), 'state.set takes JSON');
    else if (plainArguments(call).length === 1 && !hasSpread(call)) {
      script.report('not_json', call, 'state.set needs a value: state.set(key, value).');
    }
  }
  for (const node of script.tree.nodes) {
    if (node.type !== 'ReturnStatement' || !node.argument || script.tree.functionAround(node)) continue;
    // A promise that is returned as it is will be awaited.
    if (script.isPromise(node.argument)) continue;
    report(script, notJson(node.argument, script.jsonRules(true)), 'The result of a workflow must be JSON');
  }
}

function report(script: Script, found: NotJson | undefined, rule: string): void {
  if (found) script.report('not_json', found.node, `${rule}; this is ${found.what}.`);
}

/** What leaves the script must be JSON: emitted values, state, the result. */
import type { AnyNode } from 'acorn';
import { say } from '../../../protocol/index.ts';
import { notJson } from '../literals.ts';
import { hasSpread, plainArguments, type Script } from '../script.ts';

export function checkValues(script: Script): void {
  for (const call of script.globalCalls('emit')) {
    const [value] = plainArguments(call);
    if (value) checkJson(script, value, 'not_json:emit');
    else if (!hasSpread(call)) script.report('not_json', call, say('not_json:emit-nothing'));
  }
  for (const call of script.globalCalls('state', 'set')) {
    const value = plainArguments(call)[1];
    if (value) checkJson(script, value, 'not_json:state');
    else if (plainArguments(call).length === 1 && !hasSpread(call)) {
      script.report('not_json', call, say('not_json:state-nothing'));
    }
  }
  for (const node of script.tree.nodes) {
    if (node.type !== 'ReturnStatement' || !node.argument || script.tree.functionAround(node)) continue;
    // A promise that is returned as it is will be awaited.
    if (script.isPromise(node.argument)) continue;
    checkJson(script, node.argument, 'not_json:result');
  }
}

type JsonTaker = 'run' | 'host' | 'item' | 'lanes' | 'emit' | 'state' | 'result';

/** Reports a value that cannot be JSON; whether it did. */
export function checkJson(script: Script, node: AnyNode, text: `not_json:${JsonTaker}`): boolean {
  // `undefined` cannot cross to the host, but a workflow may have no result.
  const found = notJson(node, script.jsonRules(text === 'not_json:result'));
  if (found) script.report('not_json', found.node, say(text, { found: found.what }));
  return found !== undefined;
}

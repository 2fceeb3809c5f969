/**
 * Async functions inside the script. Their launches could not be told apart from launches that nobody waits for, so they
 * are refused wherever they stand, dead code included.
 */
import { say } from '../../../protocol/index.ts';
import { fixAsync } from '../fix-async.ts';
import type { Script } from '../script.ts';
import { isFunction } from '../syntax-tree.ts';

export function checkNestedAsync(script: Script): void {
  for (const node of script.tree.nodes) {
    if (!isFunction(node) || !node.async) continue;
    const parent = script.tree.parent(node);
    const isMethod = parent?.type === 'MethodDefinition' || (parent?.type === 'Property' && parent.method);
    // A method's function begins at its parenthesis; the word `async` stands in front of the name.
    const start = isMethod ? parent.start : node.start;

    script.report('nested_async', { start, end: node.body.start }, say('nested_async'), {
      fix: fixAsync(script, node),
    });
  }
}

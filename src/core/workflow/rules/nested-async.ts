/**
 * Async functions inside the script. Their launches could not be told apart from launches that nobody waits for, so they
 * are refused wherever they stand, dead code included.
 */
import { fixAsync } from '../fix-async.ts';
import type { Script } from '../script.ts';
import { isFunction } from '../syntax-tree.ts';

const MESSAGE = [
  'Nested async functions are not supported; no children were launched. Instead:',
  '(1) await at the top level;',
  '(2) a plain function that returns the launch: const review = (key) => runs.run(key, {agent: "reviewer", task});',
  '(3) a promise chain: runs.run("scan", p).then((scan) => runs.run("fix", q(scan))).',
  'Parallel lanes of two steps each: await Promise.all(parts.map((p) => runs.run(p, a).then((r) => runs.run(p + ".check", b(r))))).',
].join('\n');

export function checkNestedAsync(script: Script): void {
  for (const node of script.tree.nodes) {
    if (!isFunction(node) || !node.async) continue;
    const parent = script.tree.parent(node);
    const isMethod = parent?.type === 'MethodDefinition' || (parent?.type === 'Property' && parent.method);
    // A method's function begins at its parenthesis; the word `async` stands in front of the name.
    const start = isMethod ? parent.start : node.start;

    script.report('nested_async', { start, end: node.body.start }, MESSAGE, { fix: fixAsync(script, node) });
  }
}

import type { AnyNode } from 'acorn';
import { say } from '../../protocol/index.ts';
import type { Fix } from './fix-fields.ts';
import type { Unobserved } from './observation.ts';
import type { ApiCall, Script } from './script.ts';

/** Adds `await`, where the workflow's own body can wait. */
export function addAwait(script: Script, call: ApiCall, loss: Unobserved): Fix | undefined {
  const target = awaited(script, call, loss);
  if (!target || !script.tree.isInBody(target)) return undefined;
  const { start, end } = target;
  const needsParentheses = script.tree.parent(target)?.type === 'MemberExpression';
  const edits = needsParentheses
    ? [
        { start, end: start, text: '(await ' },
        { start: end, end, text: ')' },
      ]
    : [{ start, end: start, text: 'await ' }];
  return { kind: 'add_await', title: say('fix:add_await'), safe: true, edits };
}

/** The expression that should be awaited. */
function awaited(script: Script, call: ApiCall, { how, whole }: Unobserved): AnyNode | undefined {
  if (how === 'handler') return undefined;
  if (how === 'dropped' && whole.type !== 'Identifier') {
    const parent = script.tree.parent(whole);
    // Only a whole statement or value; elsewhere waiting would not be what was meant.
    return parent?.type === 'ExpressionStatement' || parent?.type === 'VariableDeclarator' ? whole : undefined;
  }
  if (whole.type !== 'Identifier') return whole;
  // `const p = runs.run(…)` and p.output: the launch itself is awaited where it is made, if p is only read from.
  const binding = script.scopes.bindingOf(whole);
  const declarator = binding?.declarations[0] && script.tree.parent(binding.declarations[0]);
  if (declarator?.type !== 'VariableDeclarator' || !declarator.init || !contains(declarator.init, call.node))
    return undefined;
  const onlyRead = binding?.references.every((use) => {
    const parent = script.tree.parent(use);
    return parent?.type === 'MemberExpression' && parent.object === use;
  });
  return onlyRead && binding?.references.every((use) => !isChained(script, use)) ? declarator.init : undefined;
}

function isChained(script: Script, use: AnyNode): boolean {
  const parent = script.tree.parent(use);
  return (
    parent?.type === 'MemberExpression' &&
    parent.property.type === 'Identifier' &&
    ['then', 'catch', 'finally'].includes(parent.property.name)
  );
}

function contains(outer: AnyNode, inner: AnyNode): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

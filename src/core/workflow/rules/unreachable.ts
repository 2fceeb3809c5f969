/** Statements that stand behind the end of their block: they are named, and mistakes in them cannot fail the run. */
import type { AnyNode, Statement } from 'acorn';
import { say } from '../../../protocol/index.ts';
import type { Script } from '../script.ts';

export function checkUnreachable(script: Script): void {
  for (const node of script.tree.nodes) {
    const statements = statementsOf(node);
    const end = statements.findIndex(isExit);
    if (end === -1) continue;
    // Declared functions and names without a value take effect wherever they stand.
    const dead = statements.slice(end + 1).filter((statement) => !isHarmless(statement));
    const [first] = dead;
    const last = dead.at(-1);
    if (!first || !last) continue;
    script.neverRuns(dead);
    const exit = statements[end];
    const related = exit && [{ at: exit, message: say('unreachable_code:end') }];
    script.report('unreachable_code', { start: first.start, end: last.end }, say('unreachable_code'), { related });
  }
}

function statementsOf(node: AnyNode): readonly Statement[] {
  switch (node.type) {
    case 'Program':
      return node.body.filter((statement): statement is Statement => !/^(?:Import|Export)/.test(statement.type));
    case 'BlockStatement':
    case 'StaticBlock':
      return node.body;
    case 'SwitchCase':
      return node.consequent;
    default:
      return [];
  }
}

function isExit({ type }: Statement): boolean {
  return (
    type === 'ReturnStatement' || type === 'ThrowStatement' || type === 'BreakStatement' || type === 'ContinueStatement'
  );
}

function isHarmless(statement: Statement): boolean {
  if (statement.type === 'VariableDeclaration') {
    return statement.kind === 'var' && statement.declarations.every(({ init }) => !init);
  }
  // `return x; break;` is how many write a case.
  return ['FunctionDeclaration', 'EmptyStatement', 'BreakStatement'].includes(statement.type);
}

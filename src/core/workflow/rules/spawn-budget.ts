/** How many children the script launches in any case, against how many it may. */
import type { AnyNode } from 'acorn';
import { DEFAULT_MAX_SPAWNS } from '../../../protocol/index.ts';
import type { Launches } from '../launches.ts';
import type { Script } from '../script.ts';

const SHOWN_KEYS = 8;

/** @param limit how many children the run may launch; absent: nobody said */
export function checkSpawnBudget(script: Script, { launches, complete }: Launches, limit: number | undefined): void {
  const certain = new Set<AnyNode>(certainStatements(script));
  const isCertain = (node: AnyNode) => certain.has(node);
  const keys = new Set(launches.filter(({ call, later }) => !later && isCertain(call.node)).map(({ key }) => key));
  const whole = { start: 0, end: 0 };
  if (keys.size > (limit ?? DEFAULT_MAX_SPAWNS)) {
    const named = [...keys].slice(0, SHOWN_KEYS).join(', ');
    const more = keys.size > SHOWN_KEYS ? ', …' : '';
    const counted = `The script launches at least ${keys.size} children (${named}${more})`;
    if (limit !== undefined) {
      script.report(
        'spawn_budget',
        whole,
        `${counted}; maxSubagentSpawnsPerRun is ${limit}. Raise it, or launch fewer.`,
      );
    } else {
      const message = `${counted}; unless more are allowed when it is started, ${DEFAULT_MAX_SPAWNS} are. Set maxSubagentSpawnsPerRun.`;
      script.report('spawn_budget_default', whole, message);
    }
    return;
  }
  const open = script.calls.filter(({ member, node }) => ['run', 'all', 'lanes'].includes(member) && !isCertain(node));
  const [first] = open;
  if (limit !== undefined && (first || !complete)) {
    const message = `How many children are launched is decided while the script runs; at least ${keys.size} are certain, ${limit} are allowed.`;
    script.report('spawn_count_dynamic', first?.node ?? whole, message);
  }
}

/** The calls that run in any case: alone in a statement at the top, with nothing before them that may end the script. */
function certainStatements(script: Script): AnyNode[] {
  const certain: AnyNode[] = [];
  for (const statement of script.tree.program.body) {
    for (const value of valuesOf(statement)) {
      const call = value.type === 'AwaitExpression' ? value.argument : value;
      if (script.isLaunch(call)) certain.push(call);
    }
    if (mayLeave(script, statement)) break;
  }
  return certain;
}

function valuesOf(statement: AnyNode): AnyNode[] {
  switch (statement.type) {
    case 'ExpressionStatement':
      return [statement.expression];
    case 'ReturnStatement':
      return statement.argument ? [statement.argument] : [];
    case 'VariableDeclaration':
      return statement.declarations.flatMap(({ init }) => init ?? []);
    default:
      return [];
  }
}

function mayLeave(script: Script, statement: AnyNode): boolean {
  for (const node of script.tree.within(statement)) {
    if (node.type === 'ReturnStatement' || node.type === 'ThrowStatement') return true;
  }
  return false;
}

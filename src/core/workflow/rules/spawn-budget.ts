/** How many children the script launches in any case, against how many it may. */
import type { AnyNode } from 'acorn';
import { DEFAULT_MAX_SPAWNS, isObject, say } from '../../../protocol/index.ts';
import type { Launch, Launches } from '../launches.ts';
import type { Script } from '../script.ts';

const SHOWN_KEYS = 8;

/** @param limit how many children the run may launch; absent: nobody said */
export function checkSpawnBudget(script: Script, { launches, complete }: Launches, limit: number | undefined): void {
  const certain = new Set<AnyNode>(certainStatements(script));
  const isCertain = (node: AnyNode) => certain.has(node);
  const sure = launches.filter((launch) => !launch.later && isCertain(launch.call.node) && isCharged(launch));
  const keys = new Set(sure.map(({ key }) => key));
  const whole = { start: 0, end: 0 };
  if (keys.size > (limit ?? DEFAULT_MAX_SPAWNS)) {
    const more = keys.size > SHOWN_KEYS ? ', …' : '';
    const code = limit === undefined ? 'spawn_budget_default' : 'spawn_budget';
    const named = `${[...keys].slice(0, SHOWN_KEYS).join(', ')}${more}`;
    script.report(code, whole, say(code, { count: keys.size, keys: named, max: limit ?? DEFAULT_MAX_SPAWNS }));
    return;
  }
  const open = script.calls.filter(({ member, node }) => ['run', 'all', 'lanes'].includes(member) && !isCertain(node));
  const [first] = open;
  if (limit !== undefined && (first || !complete)) {
    const message = say('spawn_count_dynamic', { count: keys.size, max: limit });
    script.report('spawn_count_dynamic', first?.node ?? whole, message);
  }
}

/** Whether a launch surely counts: going on with a child does not, and parameters that cannot be seen may say so. */
function isCharged({ node, open, params }: Launch): boolean {
  return node !== undefined && !open && isObject(params) && !Object.hasOwn(params, 'resume');
}

/** The calls that run in any case: alone in a statement at the top, with nothing before them that may end the script. */
function certainStatements(script: Script): AnyNode[] {
  const certain: AnyNode[] = [];
  const exit = script.tree.nodes.find((node) => isExit(node) && !script.tree.functionAround(node));
  for (const statement of script.tree.program.body) {
    if (exit && statement.start > exit.start) break;
    for (const value of valuesOf(statement)) {
      const call = value.type === 'AwaitExpression' ? value.argument : value;
      if (script.isLaunch(call)) certain.push(call);
    }
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

function isExit({ type }: AnyNode): boolean {
  return type === 'ReturnStatement' || type === 'ThrowStatement';
}

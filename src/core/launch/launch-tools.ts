/** Which tools a child may use: what its agent asks for, within what the run allows. Pure. */
import {
  type AgentContract,
  ANSWER_TOOL,
  type CapabilityCeiling,
  type ChildPlan,
  lanesError,
  type Permission,
  type ToolRules,
} from '../../protocol/index.ts';
import { WITHOUT_PERMISSION } from '../agents/index.ts';

/** What bounds a run, whoever launches in it and however deep: not what its parent happens to use. */
export interface ToolBounds {
  ceiling?: CapabilityCeiling | null | undefined;
  /** Rules of the run. */
  rules?: ToolRules | undefined;
}

/** @param needed tools that what else the agent asks for does not work without; they are added where the bounds allow them */
export function effectiveTools(
  { tools: own, excludeTools = [], permissions }: Pick<AgentContract, 'tools' | 'excludeTools' | 'permissions'>,
  { ceiling, rules = {} }: ToolBounds,
  needed: readonly string[] = [],
): NonNullable<ChildPlan['tools']> {
  const merged = mergeRules(rules, permissions ?? {});
  const denied = withRule(merged, 'deny');
  const asked = withRule(merged, 'ask');
  const allowed = ceiling?.allowedTools;
  const isAllowed = (tool: string) =>
    !denied.includes(tool) && (allowed === undefined || tool === ANSWER_TOOL || allowed.includes(tool));
  const refused = [...new Set([...denied, ...excludeTools])];
  const list =
    own && [...new Set([...own.filter((tool) => !excludeTools.includes(tool)), ...needed])].filter(isAllowed);
  return {
    ...(list === undefined ? {} : { list }),
    ...(list === undefined && allowed !== undefined ? { only: allowed.filter((tool) => !refused.includes(tool)) } : {}),
    ...(refused.length === 0 ? {} : { denied: refused }),
    ...(asked.length === 0 ? {} : { asked }),
  };
}

/** What a run denies stays denied; where it asks, an agent's own `allow` lifts that, and `deny` is stricter. */
export function mergeRules(run: ToolRules, agent: ToolRules): ToolRules {
  const rules: [string, Permission][] = [...new Set([...Object.keys(run), ...Object.keys(agent)])].map((tool) => {
    const ofRun = Object.hasOwn(run, tool) ? run[tool] : undefined;
    const ofAgent = Object.hasOwn(agent, tool) ? agent[tool] : undefined;
    return [tool, ofRun === 'deny' ? 'deny' : (ofAgent ?? ofRun ?? 'allow')];
  });
  return Object.fromEntries(rules);
}

/** @throws LanesError for tools that have rules of their own */
export function checkToolRules(rules: ToolRules, file: string): void {
  const wrong = Object.keys(rules).find((tool) => WITHOUT_PERMISSION.includes(tool));
  if (wrong !== undefined) throw lanesError('config_invalid:tool-rule', { file, tool: wrong });
}

function withRule(rules: ToolRules, rule: Permission): string[] {
  return Object.keys(rules).filter((tool) => rules[tool] === rule);
}

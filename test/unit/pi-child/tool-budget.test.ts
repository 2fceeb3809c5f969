import { describe, expect, it } from 'vitest';
import { ToolBudgetCount, type ToolCallVerdict } from '../../../src/pi/child/tool-budget.ts';
import { type ToolBudget, toolBudget } from '../../../src/protocol/index.ts';

function verdicts(budget: ToolBudget, ...tools: string[]): string[] {
  const count = new ToolBudgetCount(budget);
  const word = (verdict: ToolCallVerdict) => {
    if (verdict.refused) return 'refused';
    return verdict.nudge === null ? 'ok' : 'nudged';
  };
  return tools.map((tool) => word(count.next(tool)));
}

describe('a tool budget', () => {
  it.each<[ToolBudget, string[], string[]]>([
    [{ hard: 2 }, ['read', 'read', 'read', 'read'], ['ok', 'ok', 'refused', 'refused']],
    // What is not blocked goes on, and counts.
    [{ hard: 1 }, ['bash', 'bash', 'grep', 'edit'], ['ok', 'ok', 'refused', 'ok']],
    [{ hard: 1 }, ['find', 'find', 'ls', 'grep', 'read'], ['ok', 'refused', 'refused', 'refused', 'refused']],
    [{ hard: 1, block: ['bash'] }, ['bash', 'bash', 'read'], ['ok', 'refused', 'ok']],
    [{ hard: 1, block: '*' }, ['read', 'edit', 'structured_output'], ['ok', 'refused', 'ok']],
    [{ hard: 1, block: ['structured_output'] }, ['read', 'structured_output'], ['ok', 'ok']],
    [{ soft: 2, hard: 3 }, ['read', 'read', 'read', 'read'], ['ok', 'nudged', 'ok', 'refused']],
    [{ soft: 1, hard: 1 }, ['read', 'read'], ['nudged', 'refused']],
  ])('%j makes of %j: %j', (budget, tools, wanted) => {
    expect(verdicts(budget, ...tools)).toEqual(wanted);
  });

  it.each([
    { hard: 0 },
    { hard: 1.5 },
    { soft: 0, hard: 1 },
    { soft: 3, hard: 2 },
    { hard: 1, block: [] },
    { hard: 1, block: [' '] },
    { hard: 1, block: 'read' },
    { hard: 1, limit: 2 },
    {},
  ])('is not %j', (value) => {
    expect(toolBudget.safeParse(value).success).toBe(false);
  });
});

/** The Pi extension that is loaded into every child: `pi --mode rpc -e pi-child.mjs`. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { redact } from '../../core/transcripts/index.ts';
import { type ChildReport, REPORT_KEY, type ToolBudget } from '../../protocol/index.ts';
import { answerTool } from './answer-tool.ts';
import { takeContract } from './contract.ts';
import type { Pi, PiContext } from './pi.ts';
import { leaveGlobalContextOut } from './project-context.ts';
import { keepToGate } from './rate-gate.ts';
import { keepBounds } from './tool-bounds.ts';
import { ToolBudgetCount } from './tool-budget.ts';
import { ToolList } from './tool-list.ts';

export default function piChild(pi: Pi): void {
  // While loading, so before any tool can run.
  const contract = takeContract(process.env);
  if (contract === undefined) return;
  const { tools, onlyTools, deniedTools, askedTools, toolBudget, output, rateGate, withoutGlobalContext } = contract;
  // Not while loading: then Pi would refuse to start where another extension has a tool of this name. Of two that come
  // later, Pi takes that of the extension that was loaded first, which is this one.
  if (output) pi.on('session_start', () => pi.registerTool(answerTool(output)));
  if (tools) keepToList(pi, new ToolList(tools));
  if (onlyTools || deniedTools || askedTools) keepBounds(pi, contract, redact);
  if (toolBudget) keepBudget(pi, toolBudget);
  if (rateGate) keepToGate(pi, rateGate, report);
  if (withoutGlobalContext) leaveGlobalContextOut(pi, agentFolder());
}

function agentFolder(): string {
  return process.env['PI_CODING_AGENT_DIR'] || join(homedir(), '.pi', 'agent');
}

function keepToList(pi: Pi, list: ToolList): void {
  // Not while loading: other extensions may bring their tools until the child is spoken to.
  pi.on('input', (_, context) => {
    const missing = list.missing(pi.getAllTools().map(({ name }) => name));
    if (missing.length === 0) return undefined;
    report(context, { type: 'tools-missing', tools: missing });
    return { action: 'handled' };
  });
  pi.on('tool_call', ({ toolName }) => {
    const reason = list.refuse(toolName);
    return reason === undefined ? undefined : { block: true, reason };
  });
}

function keepBudget(pi: Pi, budget: ToolBudget): void {
  const count = new ToolBudgetCount(budget);
  let nudge: string | null = null;
  pi.on('tool_call', ({ toolName }, context) => {
    const verdict = count.next(toolName);
    if (verdict.refused) {
      report(context, { type: 'tool-budget-blocked' });
      return { block: true, reason: verdict.reason };
    }
    nudge ??= verdict.nudge;
    return undefined;
  });
  // Said with a result the model is about to read: a message of its own would begin a new turn.
  pi.on('tool_result', ({ content }) => {
    if (nudge === null) return undefined;
    const text = nudge;
    nudge = null;
    return { content: [...content, { type: 'text', text }] };
  });
}

/** To the runner, which reads what Pi would show on its screen. */
function report({ ui }: PiContext, said: ChildReport): void {
  ui.setStatus(REPORT_KEY, JSON.stringify(said));
}

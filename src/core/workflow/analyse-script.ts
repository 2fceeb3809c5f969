/**
 * The static check of a workflow script: pure, without any effect, and finished for every text unless the stack ends. It runs in
 * a worker (`validate-worker.ts`), which has the stack and can be ended.
 */
import {
  type AnalysisOptions,
  type Finding,
  MAX_SCRIPT_BYTES,
  type ScriptAnalysis,
  say,
  sentences,
  type Words,
} from '../../protocol/index.ts';
import { TextPositions } from '../text-positions/index.ts';
import { findLaunches } from './launches.ts';
import { outlineOf } from './outline.ts';
import { outlookOf } from './outlook.ts';
import { parseScript } from './parse-script.ts';
import { refused } from './refused.ts';
import { checkBatchResults } from './rules/batch-results.ts';
import { checkCalls } from './rules/calls.ts';
import { checkKeys } from './rules/keys.ts';
import { checkNames } from './rules/names.ts';
import { checkNestedAsync } from './rules/nested-async.ts';
import { checkOutputs } from './rules/outputs.ts';
import { checkSpawnBudget } from './rules/spawn-budget.ts';
import { checkUnobserved } from './rules/unobserved.ts';
import { checkUnreachable } from './rules/unreachable.ts';
import { checkValues } from './rules/values.ts';
import { Script } from './script.ts';
import { toFinding } from './to-finding.ts';

/** Every rule. Throws `RangeError` when the script nests deeper than the stack. */
export function analyseScript(text: string, options: AnalysisOptions = {}): ScriptAnalysis {
  const read = readScript(text);
  if ('findings' in read) return read;
  const { script } = read;
  const launches = findLaunches(script);
  checkNestedAsync(script);
  checkCalls(script);
  checkValues(script);
  checkNames(script);
  checkBatchResults(script);
  checkUnobserved(script, launches);
  checkKeys(script, launches);
  checkOutputs(script, launches, options.aggregate);
  checkSpawnBudget(script, launches, options.maxSubagentSpawnsPerRun);
  checkUnreachable(script);
  return { findings: script.findings(), ...outlineOf(script, launches.launches), outlook: outlookOf(script, launches) };
}

/** The rules of the language alone: what a script breaks here keeps all of it from running. Throws as `analyseScript` does. */
export function analyseLanguage(text: string): Finding[] {
  const read = readScript(text);
  if ('findings' in read) return read.findings;
  checkNestedAsync(read.script);
  return read.script.findings();
}

function readScript(text: string): ScriptAnalysis | { script: Script } {
  if (text.trim() === '') return refused('script_empty', say('script_empty'));
  const size = Buffer.byteLength(text);
  if (size > MAX_SCRIPT_BYTES) {
    return refused('script_too_large', say('script_too_large', { size, max: MAX_SCRIPT_BYTES }));
  }
  const positions = new TextPositions(text);
  const parsed = parseScript(text);
  if ('problem' in parsed) return { findings: [syntaxFinding(text, positions, parsed)], keys: [], agents: [] };
  return { script: new Script(text, parsed.program, positions) };
}

/** The parser names one place; what is unterminated is shown at the end of what is written, not behind it. */
function syntaxFinding(
  text: string,
  positions: TextPositions,
  { problem, at }: { problem: Words; at: number },
): Finding {
  const end = text.trimEnd().length;
  const start = at >= end ? Math.max(0, end - 1) : at;
  const fence = text.includes('```') ? say('syntax:fence') : undefined;
  const message = sentences(say('syntax', { problem }), fence);
  return toFinding({ code: 'syntax', message, range: positions.range(start, start + 1) });
}

/** What a script must be before anything of it runs. Rules on keys and parameters are left to the calls: dead code may break them. */
import { say, spellOut } from '../../../protocol/index.ts';
import { analyseLanguage } from '../analyse-script.ts';
import type { WorkflowError } from './calls.ts';

const TOO_DEEP: WorkflowError = {
  kind: 'syntax',
  message: notStarted(spellOut(say('script_too_deep'))),
};

/** Why the script cannot start, if it cannot. */
export function languageFault(script: string): WorkflowError | undefined {
  try {
    const [found] = analyseLanguage(script);
    if (!found) return undefined;
    return {
      kind: found.code === 'syntax' ? 'syntax' : 'validation',
      message: notStarted(found.message),
      line: found.line,
      column: found.column,
    };
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

export function notStarted(reason: string): string {
  return `The workflow failed its validation before child launch; no children were launched. ${reason}`;
}

/** The worker in which scripts are read: it has a large stack, and its owner can end it. */
import { parentPort } from 'node:worker_threads';
import { type ScriptAnalysis, say } from '../../protocol/index.ts';
import { analyseScript } from './analyse-script.ts';
import { refused } from './refused.ts';
import { validateRequest } from './validate-messages.ts';

parentPort?.on('message', (message: unknown) => {
  const { id, script, options } = validateRequest.parse(message);
  parentPort?.postMessage({ id, analysis: analyse(script, options) });
});

function analyse(script: string, options: Parameters<typeof analyseScript>[1]): ScriptAnalysis {
  try {
    return analyseScript(script, options);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refused('script_too_deep', say('script_too_deep'));
  }
}

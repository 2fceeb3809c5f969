/** What callers without types can give instead of options: each is refused by its name, and nothing runs. */
import { describe, expect, it } from 'vitest';
import { executeWorkflowIn } from '../../../src/api/workflow-execution.ts';
import { analyseScript } from '../../../src/core/workflow/analyse-script.ts';
import { engineWorker } from './workflow.ts';

const launch = () => ({ ok: true, output: '' });
const REFUSED: [unknown, RegExp][] = [
  [undefined, /options are missing; it takes one object with script and host/],
  ['return 1', /options are missing/],
  [{ host: { launch } }, /script is missing; it must be a string/],
  [{ script: 5, host: { launch } }, /script is number; it must be a string/],
  [{ script: '1' }, /host is missing; it must be an object with a function launch/],
  [{ script: '1', host: {} }, /host\.launch is missing; it must be a function/],
  [{ script: '1', host: { launch: 'x' } }, /host\.launch is string; it must be a function/],
  [{ script: '1', host: { launch, steer: {} } }, /host\.steer is object; it must be a function/],
  [{ script: '1', host: { launch }, state: {} }, /state\.get is missing; it must be a function/],
  [
    { script: '1', host: { launch }, state: null },
    /state is null; it must be an object with the functions get and set/,
  ],
  [{ script: '1', host: { launch }, onProgress: 1 }, /onProgress is number; it must be a function/],
  [{ script: '1', host: { launch }, timeout: 5 }, /no option "timeout"\. Options: script, args, .*timeoutMs/],
];

describe('options of executeWorkflow', () => {
  it.each(REFUSED)('%j are refused', async (options, words) => {
    const ended = await executeWorkflowIn(options as never, { worker: await engineWorker() });
    expect(ended).toMatchObject({ ok: false, error: { kind: 'validation', message: expect.stringMatching(words) } });
  });
});

describe('what is no workflow script is told in words of scripts', () => {
  it.each([
    ["import fs from 'node:fs'", /scripts have no import and no export/],
    ['export const a = 1', /scripts have no import and no export/],
    ["const x: string = 'a'", /unexpected ":"; types are TypeScript, which scripts do not know/],
    ['return {a: 1', /the script ends in the middle of something that was begun/],
    ['const a = ;', /unexpected ";"/],
  ])('%s', (script, words) => {
    const [finding] = analyseScript(script).findings;
    expect(finding).toMatchObject({ code: 'syntax', message: expect.stringMatching(words) });
  });
});

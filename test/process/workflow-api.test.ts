import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { testBundles } from '../support/world.ts';

describe('dist/api.js', () => {
  it('wf-10 runs and replays a script in any folder, and lets the process end', async () => {
    const api = pathToFileURL(join(await testBundles(), 'api.js')).href;
    const program = `
      const { executeWorkflow, replayWorkflow } = await import(${JSON.stringify(api)});
      const { record, ...execution } = await executeWorkflow({
        script: "const r = await runs.run('a', {agent: 'w', task: 't'}); emit(Math.random()); return r.output",
        host: { launch: async ({ key }) => ({ ok: true, output: key + ' done' }) },
      });
      const again = await replayWorkflow(JSON.parse(JSON.stringify(record)));
      console.log(JSON.stringify({ execution, again }));
    `;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: '/',
    });
    expect(stderr).toBe('');
    const { execution, again } = JSON.parse(stdout);
    expect(execution).toMatchObject({ ok: true, value: 'a done', emits: [expect.any(Number)] });
    expect(again).toEqual(execution);
  });
});

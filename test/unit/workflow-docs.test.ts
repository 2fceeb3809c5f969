/** Codes, their severity and their explanation are one list; what the editor's types say of `runs` is what there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isWorkflowPath } from '../../src/core/workflow-files/index.ts';
import { CHILD_LAUNCH_FIELDS, FINDING_CODES, RUNS_MEMBERS, severityOf } from '../../src/protocol/index.ts';
import { projectRoot } from '../support/project-root.ts';

const text = (path: string) => readFileSync(join(projectRoot(), path), 'utf8');

test('the table of findings has each code once, with its severity', () => {
  const rows = [...text('docs/script-api.md').matchAll(/^\| `(\w+)` +\| (error|warning) +\| (.+?) +\|$/gm)];
  const documented = rows.map(([, code, severity]) => `${code} ${severity}`);
  expect(documented.sort()).toEqual(FINDING_CODES.map((code) => `${code} ${severityOf(code)}`).sort());
});

test('the declarations for scripts have every member of runs, and name no field of a launch that is unknown', () => {
  const declarations = text('src/typescript-plugin/workflow.d.ts');
  const runs = /declare const runs: \{(.*?)\n\};/s.exec(declarations)?.[1] ?? '';
  expect([...runs.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name)).toEqual([...RUNS_MEMBERS]);
  const launch = /interface PiLanesLaunch \{(.*?)\n\}/s.exec(declarations)?.[1] ?? '';
  const fields = [...launch.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name ?? '');
  expect(fields.length).toBeGreaterThan(20);
  for (const field of fields) expect(CHILD_LAUNCH_FIELDS).toContain(field);
});

test.each([
  ['/p/a.workflow.js', true],
  ['/p/a.workflow.mjs', true],
  ['C:\\p\\a.workflow.js', true],
  ['/p/.pi/workflows/deep/a.js', true],
  ['/p/workflows/a.mjs', true],
  ['/p/workflows/a.ts', false],
  ['/p/workflows.js', false],
  ['/p/other/workflows/a.js', false],
  ['/p/a.workflow.ts', false],
  ['/p/a.js', false],
])('%s is a script: %s', (path, is) => {
  expect(isWorkflowPath(path, ['/p/workflows/'])).toBe(is);
});

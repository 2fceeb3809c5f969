/** Codes, their severity, their texts and their explanation are one list. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FIELDS } from '../../../src/core/agents/agent-fields.ts';
import { AGENT_CODES, AGENT_TEXTS, type AgentText, agentProblem } from '../../../src/protocol/index.ts';
import { projectRoot } from '../../support/project-root.ts';

const page = readFileSync(join(projectRoot(), 'docs', 'agents.md'), 'utf8');
const folders = ['agents', 'agent-language'].map((name) => join(projectRoot(), 'src', 'core', name));
const sources = folders
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

it('docs/agents.md has each code once, with its severity', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (error|warning|info) +\| [A-Z`].+?\. +\|$/gm)];
  expect(rows.map(([, code]) => code)).toEqual([...AGENT_CODES]);
  for (const [, code, severity] of rows) {
    const text = Object.keys(AGENT_TEXTS).find((id) => id.split(':')[0] === code);
    // The parameters do not matter here.
    const problem = Reflect.apply(agentProblem, undefined, [text, {}]);
    expect(problem, code).toMatchObject({ code, severity });
  }
});

it('docs/agents.md has each field once', () => {
  const rows = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) +\|/gm)].map(([, names = '']) => names);
  const documented = rows.flatMap((names) => [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
  const codes: readonly string[] = AGENT_CODES;
  expect(documented.filter((name) => !codes.includes(name)).sort()).toEqual([...FIELDS].sort());
});

it.each(Object.entries<AgentText>(AGENT_TEXTS))('%s is used, and says what is wrong and what to do', (id, text) => {
  const [code, variant] = id.split(':');
  const isNamed =
    sources.includes(`'${id}'`) || (sources.includes(`\`\${kind}:${variant}\``) && sources.includes(`'${code}'`));
  expect(isNamed).toBe(true);
  expect(text.message).toMatch(/\S[.]$/);
  expect(text.hint).toMatch(/^[A-Z].{5,}[.?]$/);
});

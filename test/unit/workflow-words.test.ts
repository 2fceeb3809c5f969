/** What findings say: every text of the catalogue is said by some finding, in English and in German with its places filled. */
import { describe, expect, it, test, vi } from 'vitest';
import * as z from 'zod/mini';
import german from '../../l10n/bundle.l10n.de.json' with { type: 'json' };
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { agentFindings, toValidation } from '../../src/core/workflow/index.ts';
import { refused } from '../../src/core/workflow/refused.ts';
import { FINDING_TEXTS } from '../../src/protocol/finding-texts.ts';
import { type Finding, finding, MAX_SCRIPT_BYTES, say, spellOut, type Words } from '../../src/protocol/index.ts';
import { LAUNCH, REFUSED } from './builders/refused-scripts.ts';

const translations = new Map(Object.entries(german));
/** As the editor does it: a text without a translation stays, a place without a value too. */
vi.mock('vscode', () => ({
  l10n: {
    t: (text: string, params: Record<string, string>) =>
      (translations.get(text) ?? text).replace(/\{([^}]+)\}/g, (place, name) => params[name] ?? place),
  },
}));
const { inEditorLanguage } = await import('../../src/extension/editor/finding-words.ts');

const BATCH = "await runs.all([{ key: 'a', agent: 'w' }])";
const run = (fields: string) => `return runs.run('a', { agent: 'w', ${fields} })`;
const host = (fields: string) => `return runs.host('h', { kind: 'command', command: 'x', timeoutMs: 1, ${fields} })`;
const stage = (fields: string) =>
  `return runs.lanes([{ key: 'l', stages: [{ key: 's', agent: 'w' }, { key: 't', ${fields} }] }])`;
const many = (count: number, text: (at: number) => string) => Array.from({ length: count }, (_, at) => text(at));

/** What no script says that has but one mistake. */
const FURTHER = [
  'return `text ```js code`',
  'const a: number = 1',
  `const r = ${BATCH}; return r.a`,
  `const r = ${BATCH}; emit(r); emit(r.a)`,
  "const f = async (k) => runs.run(k, { agent: 'w' }); return f('a')",
  "const f = async (k) => { const r = await runs.run(k, { agent: 'w' }); return r }; return f('a')",
  run(`extensionBindings: { ${many(17, (at) => `'a${at}/1': {}`)} }`),
  run(`extensionBindings: { 'a/1': ${'['.repeat(18)}${']'.repeat(18)} }`),
  run(`extensionBindings: { 'a/1': { ${many(257, (at) => `a${at}: 1`)} } }`),
  run(`extensionBindings: { 'a/1': '${'x'.repeat(17_000)}' }`),
  run('skill: 3'),
  run("toolBudget: { soft: 'x', hard: -2, more: 1, further: 2, block: [] }"),
  run('agentContract: { version: 1, more: 1, further: 2 }'),
  run("lane: { version: 1, key: 'a b' }"),
  run(`lane: { version: 1, key: 'a', claims: [${many(21, () => "'x'")}] }`),
  run("gate: 'x', acceptance: { level: args.level }"),
  host("provider: 'a\\nb', output: 'a\\u0001'"),
  host("command: 'x\\0'"),
  host(`command: '${'x'.repeat(17_000)}'`),
  "return runs.host('h', 3)",
  "return runs.host('h', () => 1)",
  `await runs.run('a', ${LAUNCH}); await runs.steer('a', 'x', 3)`,
  `await runs.run('a', ${LAUNCH}); await runs.steer('a', 'x', { index: 2e6 })`,
  stage("resume: 'x', task: 't'"),
  stage(`agent: 'w', cwd: '${'x'.repeat(33_000)}'`),
  stage("agent: 'w', tsak: 't'"),
  stage('agent: () => 1'),
  'return [module, global, Buffer, URL, TextEncoder, TextDecoder, crypto, structuredClone, queueMicrotask, performance]',
  'return [setImmediate, Intl, document]',
  'emit(undefined);\n'.repeat(501),
  many(65, (at) => `await runs.run('k${at}', ${LAUNCH});`).join('\n'),
];

const range = { line: 1, column: 1, endLine: 1, endColumn: 8 };
const findings: Finding[] = [
  ...[...Object.values(REFUSED).flat(), ...FURTHER].flatMap((script) => analyseScript(script).findings),
  ...analyseScript(`await runs.run('a', ${LAUNCH}); await runs.run('b', ${LAUNCH})`, { maxSubagentSpawnsPerRun: 1 })
    .findings,
  ...analyseScript(`if (args) await runs.run('a', ${LAUNCH})`, { maxSubagentSpawnsPerRun: 1 }).findings,
  ...analyseScript(`//${'x'.repeat(MAX_SCRIPT_BYTES)}`).findings,
  ...agentFindings([{ name: 'scuot', range }], [{ name: 'scout', aliases: [] }]),
  // Said by the thread that reads scripts, and by whoever ends it.
  ...refused('script_too_deep', say('script_too_deep')).findings,
  ...refused('script_too_deep', say('script_too_deep:memory')).findings,
  ...refused('script_too_slow', say('script_too_slow', { seconds: 10 })).findings,
];

/** Everything that a finding says, with the English it is given as. */
const said = (found: Finding): { words: Words | undefined; english: string }[] => [
  { words: found.words.message, english: found.message },
  ...(found.related ?? []).map(({ message }, at) => ({ words: found.words.related?.[at], english: message })),
  ...(found.fix ? [{ words: found.words.title, english: found.fix.title }] : []),
];

function textsIn(words: Words | undefined): string[] {
  if (typeof words !== 'object') return [];
  if (Array.isArray(words)) return words.flatMap(textsIn);
  return [words.text, ...Object.values(words.params ?? {}).flatMap(textsIn)];
}

test('every text is said by some finding', () => {
  const texts = new Set(findings.flatMap(said).flatMap(({ words }) => textsIn(words)));
  expect(Object.keys(FINDING_TEXTS).filter((text) => !texts.has(text))).toEqual([]);
});

describe('what a finding says', () => {
  const places = (text: string) => text.match(/\{\w+\}/g) ?? [];
  const byCode = Map.groupBy(findings, ({ code }) => code);

  it.each([...byCode])('%s: in English and in German, with nothing left to fill in', (_, found) => {
    for (const { words, english } of found.flatMap(said)) {
      if (words === undefined) throw new Error(`without words: ${english}`);
      expect(spellOut(words)).toBe(english);
      const translated = inEditorLanguage(words);
      expect(translated).not.toBe(english);
      // What looks like a place may be code that the text shows.
      expect(places(translated)).toEqual(places(english));
    }
  });

  it('crosses to another thread, and nothing else does', () => {
    for (const found of findings) expect(finding.parse(structuredClone(found))).toEqual(found);
    const [found] = findings;
    for (const message of [{ text: 'toString' }, { text: 'lane', params: { lane: null } }, [undefined], undefined]) {
      expect(z.safeParse(finding, { ...found, words: { message } }).success).toBe(false);
    }
  });

  it('is given to programs in English alone', () => {
    const { errors, warnings } = toValidation(findings);
    expect(errors.length + warnings.length).toBe(findings.length);
    for (const plain of [...errors, ...warnings]) expect(plain).not.toHaveProperty('words');
  });
});

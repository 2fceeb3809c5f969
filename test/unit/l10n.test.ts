/** Texts of the extension: the bundle has all of the code's, and each translation is complete and fits. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { collectTexts, textsOf } from '../../scripts/l10n.mjs';
import { ERROR_TEXTS, type ErrorText } from '../../src/protocol/error-texts/index.ts';
import { projectRoot } from '../support/project-root.ts';

const root = projectRoot();
const bundleOf = (path: string) =>
  z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(join(root, path), 'utf8')));

const SOURCES = [
  { kind: 'code', folder: 'l10n', base: 'bundle.l10n' },
  { kind: 'manifest', folder: '.', base: 'package.nls' },
];

/** Every translation, with what it translates. */
const translations = SOURCES.flatMap(({ kind, folder, base }) =>
  readdirSync(join(root, folder))
    .filter((name) => name.startsWith(`${base}.`) && name !== `${base}.json`)
    .map((name) => ({ kind, name: join(folder, name), original: join(folder, `${base}.json`) })),
);

/** What a translation must carry over as it is: places for values, commands, code. */
const fixedParts = (text: string) =>
  (text.match(/\{\w+\}|\(command:[^)]+\)|`+[^`]+`+/g) ?? []).filter((part) => !/^`\w+\/\w+`$/.test(part)).sort();

describe('the bundle', () => {
  it('has every text of the code and no other (node scripts/l10n.mjs writes it)', () => {
    const bundle = bundleOf('l10n/bundle.l10n.json');
    expect(Object.keys(bundle)).toEqual(collectTexts());
    for (const [key, text] of Object.entries(bundle)) expect(text).toBe(key);
  });

  it('is made of literals, whatever quotes they have', () => {
    const source = `vscode.l10n.t('it\\'s', a); vscode.l10n.t(\n  "a \\"b\\"\\n\\u2026",\n)`;
    expect(textsOf(source, 'x.ts')).toEqual(["it's", 'a "b"\n…']);
    expect(() => textsOf('\nl10n.t(`x`)', 'x.ts')).toThrow('x.ts:2');
  });
});

describe('errors', () => {
  const german = bundleOf('l10n/bundle.l10n.de.json');

  it.each(Object.entries<ErrorText>(ERROR_TEXTS))('%s is there in German, with the same places', (_, text) => {
    for (const english of [text.message, text.hint]) {
      if (english === undefined) continue;
      expect(german, english).toHaveProperty([english]);
      expect(fixedParts(german[english] ?? '')).toEqual(fixedParts(english));
    }
  });
});

describe('translations', () => {
  it('exist for code and manifest alike', () => {
    const languages = (kind: string) =>
      translations.filter((one) => one.kind === kind).map(({ name }) => name.split('.').at(-2));
    expect(languages('code')).toContain('de');
    expect(languages('manifest').sort()).toEqual(languages('code').sort());
  });

  it.each(translations)('$name is complete, and keeps places, commands and code', ({ name, original }) => {
    const from = bundleOf(original);
    const to = bundleOf(name);
    expect(Object.keys(to)).toEqual(Object.keys(from));
    for (const [key, text] of Object.entries(to)) {
      expect(text.trim(), key).not.toBe('');
      expect(fixedParts(text), key).toEqual(fixedParts(from[key] ?? ''));
    }
  });

  it.each(['l10n/bundle.l10n.json', ...translations.map(({ name }) => name)])('%s is packed', (name) => {
    expect(readFileSync(join(root, '.vscodeignore'), 'utf8').split('\n')).toContain(`!${name}`);
  });
});

// Collects every text that the extension's code has translated (`vscode.l10n.t`), the words of the pages and every text of an
// error, a finding or a problem of an agent into l10n/bundle.l10n.json, from which translations are made. Usage: node scripts/l10n.mjs. A test holds code, bundle and translations together.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENT_FIELD_TEXTS } from '../src/protocol/agent-field-texts.ts';
import { AGENT_TEXTS } from '../src/protocol/agent-texts.ts';
import { ERROR_TEXTS } from '../src/protocol/error-texts/index.ts';
import { FINDING_TEXTS } from '../src/protocol/finding-texts.ts';
import { TRANSCRIPT_WORDS } from '../src/protocol/transcript-words.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const CALL = /\bl10n\.t\(\s*/g;
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/y;

/** The texts of one source file. Throws for a call whose text is not a plain literal: it could not be found in a bundle. */
export function textsOf(source, path) {
  return [...source.matchAll(CALL)].map(({ index, 0: call }) => {
    LITERAL.lastIndex = index + call.length;
    const literal = LITERAL.exec(source);
    const line = source.slice(0, index).split('\n').length;
    if (!literal) throw new Error(`${path}:${line}: the text of l10n.t must be a string literal`);
    return unquoted(literal[1] ?? literal[2]);
  });
}

function unquoted(text) {
  return text.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code, char) =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : char === 'n' ? '\n' : char,
  );
}

/** Messages and hints of the catalogues of errors and of problems of agents. */
export function errorTexts() {
  return [...Object.values(ERROR_TEXTS), ...Object.values(AGENT_TEXTS)].flatMap(({ message, hint }) =>
    hint === undefined ? [message] : [message, hint],
  );
}

/** What the fields of agents do, and are when they are absent. */
function fieldTexts() {
  return Object.values(AGENT_FIELD_TEXTS).flatMap(({ about, usual }) =>
    usual === undefined ? [about] : [about, usual],
  );
}

/** All texts that the editor and its pages show translated, sorted. */
export function collectTexts() {
  const folder = join(root, 'src', 'extension');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts = paths.flatMap((path) => textsOf(readFileSync(join(folder, path), 'utf8'), path));
  const words = [...Object.values(TRANSCRIPT_WORDS), ...Object.values(FINDING_TEXTS)];
  return [...new Set([...texts, ...words, ...fieldTexts(), ...errorTexts()])].sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const texts = collectTexts();
  mkdirSync(join(root, 'l10n'), { recursive: true });
  const bundle = Object.fromEntries(texts.map((text) => [text, text]));
  writeFileSync(join(root, 'l10n', 'bundle.l10n.json'), `${JSON.stringify(bundle, null, 2)}\n`);
  console.log(`${texts.length} texts`);
}

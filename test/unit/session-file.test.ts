/** Session files are read without trusting them. */
import { createHash } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeSession, parseSession, readSessionFile, type SessionFile } from '../../src/core/sessions/index.ts';
import { tempDir } from '../support/temp.ts';

type Value = Record<string, unknown>;

const header: Value = {
  type: 'session',
  version: 3,
  id: 'session-1',
  timestamp: '2026-01-01T00:00:00Z',
  cwd: '/project',
};
const TASK = 'Größe der 漢字 \u{1F98A} \u2028 zählen';
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

const entry = (id: string, parentId: string | null, rest: Value): Value => ({
  id,
  parentId,
  timestamp: '2026-01-01T00:00:00Z',
  ...rest,
});
const message = (id: string, parentId: string | null, role: string, text: string, rest: Value = {}): Value =>
  entry(id, parentId, { type: 'message', message: { role, content: [{ type: 'text', text }], ...rest } });
const user = (id: string, parentId: string | null, text: string) => message(id, parentId, 'user', text);
const assistant = (id: string, parentId: string | null, text: string, stopReason = 'stop') =>
  message(id, parentId, 'assistant', text, { stopReason });

const content = (...lines: (Value | string)[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

function parsed(text: string): Extract<SessionFile, { state: 'ok' }> {
  const file = parseSession('/s.jsonl', text);
  if (file.state !== 'ok') throw new Error(file.reason);
  return file;
}
const judge = (...lines: (Value | string)[]) => judgeSession(parsed(content(header, ...lines)), { sha256: sha(TASK) });
const ids = (text: string) => parsed(text).branch.map((one) => one.id);

/** Judges a prompt that Pi wrote into the session as something else, by its place. */
const judgePlaced = (after: string | null | undefined, ...lines: (Value | string)[]) =>
  judgeSession(parsed(content(header, ...lines)), { sha256: sha('/skill:mend it'), after });

describe('a prompt that Pi expanded', () => {
  const expanded = user('p', null, '<skill name="mend">…</skill>\n\nit');

  test('is the first message of a new session', () => {
    expect(judgePlaced(null, expanded, assistant('b', 'p', 'Mended'))).toEqual({
      kind: 'answered',
      text: 'Mended',
      stopReason: 'stop',
    });
    expect(judgePlaced(null, expanded, assistant('b', 'p', 'I look', 'toolUse'))).toEqual({ kind: 'unfinished' });
    expect(judgePlaced(null, expanded)).toEqual({ kind: 'not-begun' });
    expect(judgePlaced(null)).toEqual({ kind: 'not-begun' });
  });

  test('is what follows the entry the session ended with before', () => {
    const before = [user('a', null, 'earlier'), assistant('b', 'a', 'Earlier answer')];
    // It was never sent: the earlier answer is not its own.
    expect(judgePlaced('b', ...before)).toEqual({ kind: 'not-begun' });
    const sent = [...before, user('c', 'b', 'expanded'), assistant('d', 'c', 'Mended')];
    expect(judgePlaced('b', ...sent)).toEqual({ kind: 'answered', text: 'Mended', stopReason: 'stop' });
    // Messages that came while it worked are not it.
    expect(judgePlaced('b', ...sent.slice(0, 3), user('x', 'c', 'steered'))).toEqual({ kind: 'not-begun' });
  });

  test('cannot be told where its place is not known: an old journal, or another session', () => {
    for (const after of [undefined, 'gone'])
      expect(judgePlaced(after, expanded, assistant('b', 'p', 'Mended'))).toEqual({ kind: 'not-begun' });
  });
});

test('the same words said before are not the prompt that follows the known entry', () => {
  const session = parsed(content(header, user('a', null, TASK), assistant('b', 'a', 'Old answer')));
  expect(judgeSession(session, { sha256: sha(TASK), after: 'b' })).toEqual({ kind: 'not-begun' });
  expect(judgeSession(session, { sha256: sha(TASK) })).toMatchObject({ kind: 'answered' });
});

describe('the file', () => {
  test('a good one gives its id, its folder and its branch', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 's.jsonl');
    await writeFile(path, content(header, user('a', null, TASK), assistant('b', 'a', 'Done')));
    expect(await readSessionFile(path)).toMatchObject({
      state: 'ok',
      id: 'session-1',
      cwd: '/project',
      branch: [{ id: 'a' }, { id: 'b' }],
    });
  });

  test('what is not there, is no file or has another name is said exactly', async () => {
    await using dir = await tempDir();
    const at = (name: string) => join(dir.path, name);
    await mkdir(at('folder.jsonl'));
    await writeFile(at('real.jsonl'), content(header));
    await symlink(at('real.jsonl'), at('link.jsonl'));
    await symlink(at('nowhere.jsonl'), at('dangling.jsonl'));
    await writeFile(at('text.txt'), content(header));
    const cases = [
      ['missing.jsonl', 'missing', 'does not exist'],
      ['folder.jsonl', 'unsupported', 'is not a regular file'],
      ['link.jsonl', 'unsupported', 'is not a regular file'],
      ['dangling.jsonl', 'unsupported', 'is not a regular file'],
      ['text.txt', 'unsupported', 'is not a .jsonl file'],
    ] as const;
    for (const [name, state, reason] of cases) {
      expect(await readSessionFile(at(name))).toEqual({ state, reason: `${at(name)} ${reason}` });
    }
    // A path below a file: it cannot be looked at, which is not the same as missing.
    expect(await readSessionFile(join(at('text.txt'), 's.jsonl'))).toMatchObject({
      state: 'damaged',
      reason: expect.stringContaining('cannot be read'),
    });
  });

  test.each([
    ['is empty', ''],
    ['holds only empty lines', '\n\n \n'],
    ['begins with an entry', content(user('a', null, TASK), assistant('b', 'a', 'Done'))],
    ['has its header in the second line', content(user('a', null, TASK), header)],
    ['has a header without a folder', content({ type: 'session', version: 3, id: 'x' }, user('a', null, TASK))],
    ['has a torn header', JSON.stringify(header).slice(0, -10)],
    ['is no JSON', 'hello\nworld\n'],
    ['begins with NUL bytes', `${'\0'.repeat(512)}\n${content(header)}`],
  ])('B52 one that %s has no header and is damaged', (_, text) => {
    expect(parseSession('/s.jsonl', text)).toEqual({
      state: 'damaged',
      reason: '/s.jsonl has no session header in its first line',
    });
  });

  test('a torn last line, a welded line, NULs and foreign text are left out; the rest is read', () => {
    const torn = JSON.stringify(assistant('c', 'b', 'never finished')).slice(0, -3);
    const welded = JSON.stringify(user('x', 'a', 'one')) + JSON.stringify(user('y', 'x', 'two'));
    expect(ids(content(header, user('a', null, TASK), assistant('b', 'a', 'Done')) + torn)).toEqual(['a', 'b']);
    expect(ids(content(header, user('a', null, TASK), welded, assistant('b', 'a', 'Done')))).toEqual(['a', 'b']);
    expect(ids(content(header, user('a', null, TASK), '\0\0\0', 'null', '7', '[]', '"x"', 'npm warn'))).toEqual(['a']);
  });

  test('entries of unknown kinds are part of the tree and say nothing', () => {
    const text = content(
      header,
      user('a', null, TASK),
      entry('m', 'a', { type: 'hologram', payload: { deep: [1, 2] } }),
      entry('n', 'm', { type: 'usage', tokens: 3 }),
      assistant('b', 'n', 'Done'),
    );
    expect(ids(text)).toEqual(['a', 'm', 'n', 'b']);
    expect(judgeSession(parsed(text), { sha256: sha(TASK) })).toEqual({
      kind: 'answered',
      text: 'Done',
      stopReason: 'stop',
    });
  });

  test('entries without id and messages of a shape that is not known are left out', () => {
    const { id: _, ...withoutId } = user('z', 'a', 'no id');
    const strange = entry('q', 'a', { type: 'message', message: { role: 7 } });
    expect(ids(content(header, user('a', null, TASK), withoutId, strange))).toEqual(['a']);
  });

  test('the branch is what leads to the last entry', () => {
    const text = content(
      header,
      user('a', null, 'first'),
      assistant('b', 'a', 'one way'),
      user('c', 'b', 'further'),
      assistant('d', 'c', 'left behind'),
      user('e', 'b', 'another way'),
      assistant('f', 'e', 'here'),
    );
    expect(ids(text)).toEqual(['a', 'b', 'e', 'f']);
  });

  test('a parent that is missing begins the branch; a circle ends', () => {
    expect(ids(content(header, user('b', 'gone', 'x'), assistant('c', 'b', 'y')))).toEqual(['b', 'c']);
    const circle = content(header, user('a', 'c', 'x'), user('b', 'a', 'y'), user('c', 'b', 'z'));
    expect(new Set(ids(circle))).toEqual(new Set(['a', 'b', 'c']));
    expect(ids(content(header, user('a', 'a', 'x')))).toContain('a');
  });

  test('carriage returns at the ends of lines do no harm', () => {
    expect(ids(content(header, user('a', null, 'x')).replaceAll('\n', '\r\n'))).toEqual(['a']);
  });
});

describe('what it says about our prompt', () => {
  const asked = user('a', null, TASK);

  test('answered: a final message follows it', () => {
    expect(judge(asked, assistant('b', 'a', 'The answer'))).toEqual({
      kind: 'answered',
      text: 'The answer',
      stopReason: 'stop',
    });
    expect(judge(asked, assistant('b', 'a', 'Cut at the li', 'length'))).toEqual({
      kind: 'answered',
      text: 'Cut at the li',
      stopReason: 'length',
    });
    const work = [assistant('b', 'a', 'Looking', 'toolUse'), message('c', 'b', 'toolResult', 'found')];
    expect(judge(asked, ...work, assistant('d', 'c', 'Found it'))).toMatchObject({
      kind: 'answered',
      text: 'Found it',
    });
  });

  test('the prompt is recognised by its digest, as a string and in parts', () => {
    const plain = entry('a', null, { type: 'message', message: { role: 'user', content: TASK } });
    expect(judge(plain, assistant('b', 'a', 'Done')).kind).toBe('answered');
    const half = TASK.length / 2;
    const parts = entry('a', null, {
      type: 'message',
      message: {
        role: 'user',
        content: [
          { type: 'text', text: TASK.slice(0, half) },
          { type: 'image', mimeType: 'image/png', data: 'AAAA' },
          { type: 'text', text: TASK.slice(half) },
        ],
      },
    });
    expect(judge(parts, assistant('b', 'a', 'Done')).kind).toBe('answered');
  });

  test.each([
    ['nothing came after it', [asked]],
    ['it is not there', [user('a', null, `${TASK} `), assistant('b', 'a', 'Done')]],
    ['only the model said these words', [assistant('a', null, TASK), assistant('b', 'a', 'Done')]],
    [
      'it is on another branch',
      [asked, assistant('b', 'a', 'Done'), user('c', null, 'other'), assistant('d', 'c', 'x')],
    ],
    ['the session is empty', []],
    [
      'a system message and settings follow it',
      [asked, message('b', 'a', 'system', 'x'), entry('c', 'b', { type: 'label' })],
    ],
  ])('not begun: %s', (_, lines) => {
    expect(judge(...lines)).toEqual({ kind: 'not-begun' });
  });

  test.each([
    ['a tool was called', [asked, assistant('b', 'a', 'Looking', 'toolUse')]],
    ['a tool has answered', [asked, assistant('b', 'a', 'x', 'toolUse'), message('c', 'b', 'toolResult', 'found')]],
    ['the model failed', [asked, assistant('b', 'a', 'Sorr', 'error')]],
    ['the model was aborted', [asked, assistant('b', 'a', 'Well', 'aborted')]],
    ['the answer is empty', [asked, assistant('b', 'a', ' \n')]],
    ['no reason of an end is given', [asked, message('b', 'a', 'assistant', 'Well')]],
    ['somebody said more after the answer', [asked, assistant('b', 'a', 'Done'), user('c', 'b', 'and now?')]],
  ])('unfinished: %s', (_, lines) => {
    expect(judge(...lines)).toEqual({ kind: 'unfinished' });
  });

  test('the last of several equal prompts counts', () => {
    const twice = [asked, assistant('b', 'a', 'The old answer'), user('c', 'b', TASK)];
    expect(judge(...twice)).toEqual({ kind: 'not-begun' });
    expect(judge(...twice, assistant('d', 'c', 'The new answer'))).toMatchObject({ text: 'The new answer' });
  });

  test('entries of settings behind the answer do not hide it', () => {
    const lines = [asked, assistant('b', 'a', 'Done'), entry('c', 'b', { type: 'session_info', name: 'x' })];
    expect(judge(...lines)).toMatchObject({ kind: 'answered', text: 'Done' });
  });
});

describe('a file cut off at any byte', () => {
  const roles = fc.constantFrom('user', 'assistant', 'toolResult');
  const said = fc.record({
    role: roles,
    text: fc.string({ unit: 'binary', maxLength: 20 }),
    stopReason: fc.constantFrom('stop', 'length', 'toolUse', 'error', 'aborted'),
  });

  test('is read without an error and never tells of an answer that is not there whole', () => {
    fc.assert(
      fc.property(fc.array(said, { maxLength: 8 }), fc.nat(), (messages, where) => {
        const lines = [header, user('0', null, TASK)];
        for (const [index, { role, text, stopReason }] of messages.entries()) {
          const rest = role === 'assistant' ? { stopReason } : {};
          lines.push(message(`${index + 1}`, `${index}`, role, text, rest));
        }
        const bytes = Buffer.from(content(...lines));
        const cut = bytes.subarray(0, where % (bytes.length + 1));
        const file = parseSession('/s.jsonl', cut.toString('utf8'));
        // Lines that are there whole; the last one may lack only its newline.
        const whole: Value[] = [];
        let length = 0;
        for (const line of lines) {
          length += Buffer.byteLength(JSON.stringify(line)) + 1;
          if (length - 1 <= cut.length) whole.push(line);
        }
        if (whole.length === 0) {
          expect(file.state).toBe('damaged');
          return;
        }
        if (file.state !== 'ok') throw new Error(file.reason);
        expect(file.branch.map((one) => one.id)).toEqual(whole.slice(1).map((one) => one['id']));
        const verdict = judgeSession(file, { sha256: sha(TASK) });
        if (verdict.kind !== 'answered') return;
        const last = messages[whole.length - 3];
        expect(last).toMatchObject({ role: 'assistant', text: verdict.text, stopReason: verdict.stopReason });
        expect(['stop', 'length']).toContain(verdict.stopReason);
      }),
      { numRuns: 500 },
    );
  });

  test('bytes that were changed anywhere do no harm either', () => {
    const good = Buffer.from(content(header, user('a', null, TASK), assistant('b', 'a', 'Done')));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 10 }), (changes) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of changes) bytes[at] = value;
        const file = parseSession('/s.jsonl', bytes.toString('utf8'));
        if (file.state === 'ok') judgeSession(file, { sha256: sha(TASK) });
      }),
      { numRuns: 500 },
    );
  });
});

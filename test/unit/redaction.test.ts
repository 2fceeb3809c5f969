import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CappedLog, redact } from '../../src/core/transcripts/index.ts';
import { settledLength } from '../../src/core/transcripts/redact.ts';
import { type TempDir, tempDir } from '../support/temp.ts';
import { pemKey, secrets } from './builders/secrets.ts';

describe('redaction', () => {
  it.each(Object.entries(secrets))('B84 removes %s and nothing around it', (_, { text, secret }) => {
    expect(text).toContain(secret);
    expect(redact(`before ${text} after`)).toBe(`before ${text.replace(secret, '[redacted]')} after`);
    expect(redact(`"${text}"\n'${text}'`)).toBe(`"${text}"\n'${text}'`.replaceAll(secret, '[redacted]'));
  });

  it('B84 removes a private key up to its end, and one without an end to the end of the text', () => {
    const { key } = pemKey('RSA ');
    expect(redact(`a\n${key}\nb\n${key}\nc`)).toBe('a\n[redacted]\nb\n[redacted]\nc');
    expect(redact(`a\n${key.slice(0, -40)}`)).toBe('a\n[redacted]');
    expect(redact(JSON.stringify({ key }))).toBe('{"key":"[redacted]"}');
  });

  it('leaves ordinary text as it is', () => {
    const ordinary = [
      'A task-management-and-scheduling-library for risk-assessment-of-everything-at-all.',
      'https://example.com:8080/path?sk=1 and git@github.com:owner/repository-with-a-name.git',
      'Bearer tokens are short; the bearer of good news.',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
      'commit 6b1f9a8d3c2e4f5a6b7c8d9e0f1a2b3c4d5e6f7a, eyJ is how JSON begins in base64, ghp_short, AKIASHORT',
      'sk-short npm_install hf_model xoxb-1 日本語 ü 🦊',
    ];
    for (const text of ordinary) expect(redact(text)).toBe(text);
  });
});

describe('what of a growing text is settled', () => {
  it('ends before its last word, and before the scheme in front of it', () => {
    expect(settledLength('one two')).toBe(4);
    expect(settledLength('one two ')).toBe(8);
    expect(settledLength('one\ntwo\n')).toBe(8);
    expect(settledLength('Authorization: Bearer ab')).toBe('Authorization: '.length);
    expect(settledLength('Authorization: bearer  ')).toBe('Authorization: '.length);
    expect(settledLength('')).toBe(0);
  });

  it('does not wait for a space where none is written', () => {
    expect(settledLength('これは日本語')).toBe(6);
    expect(settledLength('日本語 sk-a')).toBe(4);
    expect(settledLength('x'.repeat(8 * 1024))).toBe(0);
    expect(settledLength('x'.repeat(8 * 1024 + 1))).toBe(8 * 1024 + 1);
  });

  it('ends before a private key that is not over', () => {
    const { key } = pemKey();
    expect(settledLength(`see ${key.slice(0, 200)}`)).toBe(4);
    expect(settledLength(`see ${key} and `)).toBe(`see ${key} and `.length);
  });
});

describe('the log of the error output', () => {
  let folder: TempDir;
  let path: string;

  beforeEach(async () => {
    folder = await tempDir({ name: 'awkward' });
    path = join(folder.path, 'stderr.log');
  });

  afterEach(() => folder.remove());

  const written = async (pieces: readonly string[], limit?: number) => {
    const log = new CappedLog(path, limit);
    for (const piece of pieces) log.add(piece);
    await log.close();
    return readFile(path, 'utf8');
  };

  it('keeps all that was said, the last line also without its end, for its owner only', async () => {
    expect(await written(['one\ntw', 'o\n', 'thr', 'ee ü'])).toBe('one\ntwo\nthree ü');
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('B84 never holds a token, however the output was cut', async () => {
    const all = Object.values(secrets);
    const text = fc.array(fc.constantFrom(...all.map((one) => one.text), 'plain', 'ü', '\n', 'x\ny'), { maxLength: 6 });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 6 }), async (parts, cuts) => {
        const whole = parts.join(' ');
        const borders = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        path = join(folder.path, `${runs++}.log`);
        const log = await written([...borders.slice(1).map((border, i) => whole.slice(borders[i], border)), '\n']);
        expect(log).toBe(`${redact(whole)}\n`);
      }),
      { numRuns: 80 },
    );
  });

  it('B84 never holds a private key that came line by line', async () => {
    const { key, body } = pemKey('OPENSSH ');
    const log = await written(['$ cat key\n', ...key.split('\n').map((line) => `${line}\n`), 'done\n']);
    expect(log).not.toContain(body.slice(0, 10));
    expect(log).toBe('$ cat key\n[redacted]\ndone\n');
  });

  it('stops at its limit and says so once', async () => {
    const log = await written(
      Array.from({ length: 100 }, (_, i) => `line ${i}\n`),
      100,
    );
    const kept = log.split('\n').filter((line) => line.startsWith('line'));
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => `line ${i}`));
    expect(kept.length).toBeGreaterThan(10);
    expect(log.endsWith('\n[cut: more than 100 bytes]\n')).toBe(true);
    expect(log.match(/\[cut/g)).toHaveLength(1);
  });

  it('does not gather a line without end in memory', async () => {
    const log = new CappedLog(path);
    for (let i = 0; i < 40; i++) log.add('x'.repeat(4096));
    const early = async () => (await stat(path).catch(() => undefined))?.size ?? 0;
    await expect.poll(early).toBeGreaterThan(60_000);
    await log.close();
    expect((await stat(path)).size).toBe(40 * 4096);
  });

  it('is a convenience: where it cannot be written the run goes on', async () => {
    const log = new CappedLog(join(folder.path, 'nowhere', 'stderr.log'));
    log.add('one\n');
    log.add('two\n');
    await log.close();
  });
});

it('is quick on long runs of spaces, newlines and half tokens', () => {
  const from = performance.now();
  for (const filler of [' ', '\n', 'a-eyJ', 'Bearer ', '://x:']) redact(`a${filler.repeat(200_000 / filler.length)}b`);
  expect(performance.now() - from).toBeLessThan(2000);
});

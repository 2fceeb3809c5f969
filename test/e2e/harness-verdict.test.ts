import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { hostLogText } from '../harness/host-log.ts';
import { projectNode, projectRoot } from '../harness/places.ts';
import { verdict } from '../harness/verdict.ts';

const temp = mkdtempSync(join(tmpdir(), 'pi-lanes-verdict-'));
const harness = join(projectRoot, 'test', 'harness');

afterAll(() => rmSync(temp, { recursive: true, force: true }));

describe('the verdict on a run of extension tests', () => {
  it.each([
    ['all passed', { code: 0 }, { ok: true }, 0],
    ['a test failed', { code: 1 }, { ok: false }, 1],
    ['a test failed, and the window says otherwise', { code: 0 }, { ok: false }, 1],
    ['the host was killed, which the window calls success', { code: 0 }, undefined, 1],
    ['the host was killed before the window reported anything', { trouble: 'exited' }, undefined, 1],
    ['the window never ended although the tests did', { trouble: 'deadline' }, { ok: true }, 1],
  ])('%s', (_, ending, proof, code) => {
    expect(verdict(ending, proof).code).toBe(code);
  });

  it('says why when there is no proof', () => {
    expect(verdict({ code: 0 }, undefined).reason).toMatch(/extension host went away/);
  });
});

/** Runs entry.cjs as the extension host does, with a test entry of the given source. */
async function runEntry(source: string): Promise<{ proof: unknown; failed: boolean }> {
  const folder = mkdtempSync(join(temp, 'entry-'));
  const proof = join(folder, 'proof.json');
  writeFileSync(join(folder, 'entry.cjs'), source);
  const env = { ...process.env, VSCODE_TEST_PROOF: proof, VSCODE_TEST_ENTRY: join(folder, 'entry.cjs') };
  const script = `require(${JSON.stringify(join(harness, 'entry.cjs'))}).run().catch(() => process.exit(1))`;
  const failed = await promisify(execFile)(projectNode(), ['-e', script], { env }).then(
    () => false,
    () => true,
  );
  return { proof: existsSync(proof) ? JSON.parse(readFileSync(proof, 'utf8')) : undefined, failed };
}

describe('the proof that the tests came to their end', () => {
  it.each([
    ['is good when the entry resolves', 'exports.run = async () => {}', { ok: true }, false],
    ['is good when the entry calls back', 'exports.run = (_, done) => done(undefined, 0)', { ok: true }, false],
    ['is bad when the entry rejects', 'exports.run = async () => { throw new Error() }', { ok: false }, true],
    ['is bad when the entry counts failures', 'exports.run = (_, done) => done(undefined, 2)', { ok: false }, true],
    ['is bad when the entry does not load', 'throw new Error()', { ok: false }, true],
    ['is missing when the host is killed', 'exports.run = () => process.kill(process.pid, 9)', undefined, true],
    ['is missing when a test leaves the process', 'exports.run = () => process.exit(0)', undefined, false],
  ])('%s', async (_, source, proof, failed) => {
    expect(await runEntry(source)).toEqual({ proof, failed });
  });
});

describe('what is printed of a run', () => {
  it('ends with a verdict that a script can read', async () => {
    const suite = join(temp, 'suite.cjs');
    writeFileSync(suite, `it('a', () => {}); it('b', () => { throw new Error('meant') }); it.skip('c', () => {});`);
    const mocha = join(projectRoot, 'node_modules', 'mocha', 'bin', 'mocha.js');
    const args = [mocha, '--no-config', '--reporter', join(harness, 'reporter.cjs'), suite];
    const output = await promisify(execFile)(projectNode(), args).catch((error: { stdout: string }) => error);
    const [, verdict] = /^verdict: (.*)$/.exec(output.stdout.trimEnd().split('\n').at(-1) ?? '') ?? [];
    expect(JSON.parse(verdict ?? 'null')).toEqual({
      passed: 1,
      failed: 1,
      failures: [{ name: 'b', message: 'meant' }],
      secondTries: [],
    });
  });

  it("has the tests' lines, formatted, and not the window's chatter", () => {
    expect(hostLogText(['  %d passing (%s)', 2, '5ms'])).toBe('  2 passing (5ms)');
    expect(hostLogText(['[pi-lanes] a line of a test'])).toBe('[pi-lanes] a line of a test');
    expect(hostLogText(['Creating a socket (renderer-Management)...'])).toBeUndefined();
    expect(hostLogText(['[DefaultAccount] Attempt 1 to get sessions failed:', 'Canceled'])).toBeUndefined();
  });
});

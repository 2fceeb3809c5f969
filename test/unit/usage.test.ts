/** What the command line says of itself: everything stands once, and each command can be asked about alone. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS, USAGE, usageOf } from '../../src/cli/usage.ts';
import { projectRoot } from '../support/project-root.ts';

const main = () => readFile(join(projectRoot(), 'src', 'cli', 'main.ts'), 'utf8');

describe('the usage text', () => {
  it('has every command that there is, and no other', async () => {
    const cases = [...(await main()).matchAll(/case '([a-z-]+)':/g)].map(([, name = '']) => name);
    const commands = cases.filter((name) => !name.startsWith('-') && name !== 'help' && name !== 'version');
    expect([...COMMANDS].sort()).toEqual([...new Set(commands)].sort());
  });

  it('has every option that is read, with the command that reads it', async () => {
    const read = [...(await main()).matchAll(/^\s*'?([a-z-]+)'?: (?:text|texts|flag),$/gm)].map(
      ([, name = '']) => name,
    );
    expect(read.length).toBeGreaterThan(20);
    for (const name of read) expect(USAGE).toContain(`--${name}`);
  });

  it.each(COMMANDS)('says of %s what the whole says, and what its words mean', (command) => {
    const own = usageOf(command) ?? '';
    expect(own).toMatch(new RegExp(`^ {2}pi-lanes ${command}\\b`));
    for (const line of own.split('\n')) expect(USAGE).toContain(line);
    for (const other of COMMANDS)
      if (other !== command) expect(own).not.toMatch(new RegExp(`^ {2}pi-lanes ${other} `, 'm'));
    expect(own.includes('RUN is an id')).toBe(/\bRUN\b/.test(own.split('\n\n')[0] ?? ''));
    expect(own).toContain('Exit codes:');
  });

  it('says both ways to run', () => {
    expect(usageOf('run')).toMatch(/--agent NAME[\s\S]*--script FILE/);
  });

  it('knows nothing of what is no command', () => {
    expect(usageOf('runn')).toBeUndefined();
  });
});

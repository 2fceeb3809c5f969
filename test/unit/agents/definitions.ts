/** Definitions of agents as tests write them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Agent, type ParsedAgent, parseAgent } from '../../../src/core/agents/index.ts';

export const FILE = '/agents/mine.md';

export const parsed = (text: string): ParsedAgent => parseAgent(text, { file: FILE, source: 'user' });

/** The definition in a text that must have one. */
export function agentIn(text: string): Agent {
  const { agent, diagnostics } = parsed(text);
  if (!agent) throw new Error(diagnostics.map(({ line, message }) => `${line}: ${message}`).join('\n'));
  return agent;
}

/** A good definition with more fields. */
export const withFields = (...lines: string[]) =>
  ['---', 'name: a', 'description: b', ...lines, '---', 'Body.', ''].join('\n');

/** What is said of a text, as `line:column severity code`. */
export const said = (text: string) =>
  parsed(text).diagnostics.map(({ line, column, severity, code }) => `${line}:${column} ${severity} ${code}`);

/** Writes files below a folder, with the folders they need. */
export async function write(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

export const definition = (name: string, description = `The ${name}.`, ...lines: string[]) =>
  ['---', `name: ${name}`, `description: ${description}`, ...lines, '---', `You are ${name}.`, ''].join('\n');

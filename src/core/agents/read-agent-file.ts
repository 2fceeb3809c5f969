/** The definition in a file, whatever the file turns out to be. */
import { basename } from 'node:path';
import { agentProblem, wordsOf } from '../../protocol/index.ts';
import { errnoOf, openRegular } from '../files/index.ts';
import { type AgentFile, type ParsedAgent, parseAgent } from './parse-agent.ts';

/** Largest definition, in bytes: a model is sent all of it with every request. */
export const MAX_AGENT_BYTES = 1024 * 1024;

/** `undefined`: the file has gone meanwhile. */
export async function readAgentFile(given: AgentFile): Promise<ParsedAgent | undefined> {
  let bytes: Buffer;
  try {
    await using handle = await openRegular(given.file);
    const { size } = await handle.stat();
    if (size > MAX_AGENT_BYTES) return refused(given, agentProblem('file_too_large', { size, max: MAX_AGENT_BYTES }));
    bytes = await handle.readFile();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ELOOP') return undefined;
    return refused(given, agentProblem('file_unreadable', { reason: wordsOf(error) }));
  }
  const text = textOf(bytes);
  if (text === undefined) return refused(given, agentProblem('file_not_text'));
  const parsed = parseAgent(text, given);
  if (parsed.agent || parsed.name !== undefined || !parsed.diagnostics.some(({ severity }) => severity === 'error'))
    return parsed;
  const name = nameOf(given.file);
  return { name, diagnostics: parsed.diagnostics.map((diagnostic) => ({ ...diagnostic, name })) };
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Nobody knows what it says it is called: it is taken by the name of its file, so that no other agent runs in its place. */
function nameOf(file: string): string {
  return basename(file, '.md');
}

function refused({ file }: AgentFile, problem: ReturnType<typeof agentProblem>): ParsedAgent {
  const name = nameOf(file);
  return { name, diagnostics: [{ file, name, ...problem, line: 1, column: 1, endLine: 1, endColumn: 1 }] };
}

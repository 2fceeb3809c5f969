/** Asks one model for a word, to see whether it answers at all: without tools, extensions, context or a session. */
import { tmpdir } from 'node:os';
import type { Command } from '../../protocol/index.ts';
import { runWholeCommand } from '../processes/index.ts';
import { redact } from '../transcripts/index.ts';
import type { Probed } from './catalogue.ts';

const PROBE_MS = 45_000;
const QUESTION = 'Answer with the one word: ready';
const MAX_DETAIL_CHARS = 240;

const AUTH = /api key|unauthori[sz]ed|forbidden|credential|log ?in|\b40[13]\b/i;
const UNAVAILABLE =
  /not found|no such model|unknown model|does not exist|not available|disabled|decommissioned|\b404\b/i;

/** Never rejects. */
export async function askModel(
  pi: Command,
  model: string,
  { env, timeoutMs = PROBE_MS, signal }: { env: Record<string, string>; timeoutMs?: number; signal?: AbortSignal },
): Promise<Probed> {
  const quiet = ['--no-session', '--no-tools', '--no-extensions', '--no-skills', '--no-context-files'];
  const args = [...pi.args, '-p', ...quiet, '--no-prompt-templates', '--model', model, QUESTION];
  const { exitCode, stdout, stderr, failed, message } = await runWholeCommand(
    { ...pi, args },
    // Not in the project's folder: its settings must not take part.
    { cwd: tmpdir(), env, timeoutMs, signal },
  );
  if (exitCode === 0 && stdout.trim() !== '') return { status: 'ok' };
  const said = redact(`${stderr}\n${stdout}`.trim() || message);
  const detail = said.replace(/\s+/g, ' ').slice(-MAX_DETAIL_CHARS).trim();
  if (failed === 'timeout') return { status: 'timeout', detail: `no answer within ${timeoutMs / 1000} s` };
  if (AUTH.test(said)) return { status: 'auth', detail };
  return { status: UNAVAILABLE.test(said) ? 'unavailable' : 'error', ...(detail === '' ? {} : { detail }) };
}

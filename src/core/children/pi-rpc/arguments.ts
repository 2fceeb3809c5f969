/** Pi's command line for a child, built from the version, because every version refuses flags it does not know. */
import { accessOf, systemPromptOf } from '../../launch/index.ts';
import { atLeast } from '../../toolchain/index.ts';
import type { ChildStart } from '../child-driver.ts';

const SINCE = { name: '0.78.0', trust: '0.79.0', settled: '0.80.4', clearQueue: '0.84.4' };

/** What this version of Pi can do that matters to us. */
export interface PiCapabilities {
  /** Reports the true end of work with `agent_settled`. */
  reportsSettled: boolean;
  /** Takes `--approve` / `--no-approve`. */
  knowsTrust: boolean;
  /** Takes `--name`. */
  namesSessions: boolean;
  /** Knows `clear_queue`. */
  clearsQueue: boolean;
}

export function capabilitiesOf(version: string): PiCapabilities {
  return {
    reportsSettled: atLeast(version, SINCE.settled),
    knowsTrust: atLeast(version, SINCE.trust),
    namesSessions: atLeast(version, SINCE.name),
    clearsQueue: atLeast(version, SINCE.clearQueue),
  };
}

/** `extension`: path of `pi-child.mjs`, loaded whatever other extensions the child may load. */
export function piArguments(start: Omit<ChildStart, 'env' | 'node' | 'runId' | 'index'>, extension: string): string[] {
  const { plan, layout, trust } = start;
  const capabilities = capabilitiesOf(start.pi.version);
  const args = ['--mode', 'rpc', '--session-dir', layout.sessions, '-e', extension];
  // Always by path: an id could belong to another project, and Pi would ask about it on stdin.
  if (start.session.kind === 'continue') args.push('--session', start.session.file);
  if (start.session.kind === 'fork') args.push('--fork', start.session.file);
  if (plan.model) args.push('--model', plan.model);
  if (plan.thinking) args.push('--thinking', plan.thinking);
  const { agent } = plan;
  const { tools, extensions, skills } = accessOf(plan);
  for (const path of extensions.paths) args.push('-e', path);
  for (const path of skills.paths) args.push('--skill', path);
  if (tools) args.push(...(tools.length > 0 ? ['--tools', tools.join(',')] : ['--no-tools']));
  if (systemPromptOf(plan) !== '') {
    const replaces = agent.systemPromptMode === 'replace' && agent.systemPrompt !== '';
    args.push(replaces ? '--system-prompt' : '--append-system-prompt', layout.systemPrompt);
  }
  if (!agent.inheritProjectContext) args.push('--no-context-files');
  if (!skills.found) args.push('--no-skills');
  if (capabilities.knowsTrust) args.push(trust === 'approve' ? '--approve' : '--no-approve');
  // Pi before 0.79 knows no trust and would load the project's extensions without asking.
  if (!extensions.found || (!capabilities.knowsTrust && trust === 'no-approve')) args.push('--no-extensions');
  if (capabilities.namesSessions) args.push('--name', plan.sessionName);
  return args;
}

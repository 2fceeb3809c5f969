import { type SettingsScope, switchAgent } from '../../client/index.ts';
import { visible } from '../../core/transcripts/index.ts';
import { lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

export interface SwitchOptions {
  enabled: boolean;
  scope: string | undefined;
  json: boolean | undefined;
}

const SCOPES: readonly SettingsScope[] = ['user', 'project'];

/** Disables or enables an agent in Pi's settings, and says how that is undone. */
export async function switchAgentCommand(context: CliContext, name: string, options: SwitchOptions): Promise<number> {
  const { enabled, json } = options;
  const request = { name, enabled, scope: scopeOf(options.scope), cwd: context.cwd };
  const { name: agent, scope, file, changed } = await switchAgent(context.toolbox, request);
  const state = enabled ? 'enabled' : 'disabled';
  if (json) printJson(context, { agent, state, scope, file, changed });
  else if (!changed) context.out(visible(`The agent ${agent} is ${state} already (${file}).`));
  else {
    const undo = `pi-lanes agents ${enabled ? 'disable' : 'enable'} ${agent} --scope ${scope}`;
    context.out(visible(`The agent ${agent} is ${state} in ${file}. Undo: ${undo}`));
  }
  return EXIT.ok;
}

function scopeOf(value: string | undefined): SettingsScope | undefined {
  const scope = SCOPES.find((one) => one === value);
  if (value !== undefined && scope === undefined)
    throw lanesError('launch_invalid:scope', { value, allowed: SCOPES.join(', ') });
  return scope;
}

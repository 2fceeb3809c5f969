/** What the Library has of the agents of a folder: every definition that was found, by whose it is. Pure. */
import { type Discovered, type FoundAgent, type SettingPlace, unsupportedFields } from '../../core/agents/index.ts';
import type { AgentDiagnostic } from '../../protocol/index.ts';

export const AGENT_GROUPS = ['project', 'user', 'package', 'builtin'] as const;
export type AgentGroup = (typeof AGENT_GROUPS)[number];

/** What becomes of a definition: settings disable it, mistakes make it unusable, a stronger one of its name hides it. */
export type AgentRowState =
  | { kind: 'usable' }
  | { kind: 'disabled'; by: SettingPlace }
  | { kind: 'refused'; diagnostic: AgentDiagnostic }
  | { kind: 'hidden'; by: Pick<FoundAgent, 'source' | 'file'> };

export interface AgentRow {
  name: string;
  group: AgentGroup;
  /** Absolute; of a builtin agent the name of the file it is made from. */
  file: string;
  fromPackage?: FoundAgent['fromPackage'];
  state: AgentRowState;
  /** Absent where the definition cannot be read. */
  agent?: FoundAgent;
  /** Of the definition, and of what settings say about it. */
  problems: readonly AgentDiagnostic[];
  /** Fields that a launch of this version does not carry out. */
  unsupported: readonly string[];
  /** The person has a definition or an override in the place of one that came along, so there is something to go back to. */
  canReset: boolean;
}

/** Rows by their group and name; a definition that counts comes before those that it hides. */
export function agentRows({ agents, disabled, refused, hidden, diagnostics }: Discovered): AgentRow[] {
  const byFile = Map.groupBy(diagnostics, ({ file }) => file);
  const ofSettings = Map.groupBy(
    diagnostics.filter(({ code }) => code === 'override_invalid' || code === 'override_unknown'),
    ({ name }) => name ?? '',
  );
  const cameAlong = new Set(
    hidden.flatMap(({ agent: { name, source } }) => (source === 'builtin' || source === 'package' ? [name] : [])),
  );
  const row = (entry: Named, state: AgentRowState, agent: FoundAgent | undefined): AgentRow => {
    const { name, file, source, fromPackage } = entry;
    const group = groupOf(source);
    const isShown = state.kind !== 'hidden';
    const comesAlong = group === 'package' || group === 'builtin';
    return {
      name,
      group,
      file,
      ...(fromPackage && { fromPackage }),
      state,
      ...(agent && { agent }),
      problems: [...(byFile.get(file) ?? []), ...(isShown ? (ofSettings.get(name) ?? []) : [])],
      unsupported: agent ? unsupportedFields(agent) : [],
      canReset: isShown && (comesAlong ? isOverridden(name, agent, state) : cameAlong.has(name)),
    };
  };
  return [
    ...agents.map((agent) => row(agent, { kind: 'usable' }, agent)),
    ...disabled.map(({ agent, by }) => row(agent, { kind: 'disabled', by }, agent)),
    ...refused.map((one) => row(one, { kind: 'refused', diagnostic: one.diagnostic }, undefined)),
    ...hidden.map(({ agent, by }) => row(agent, { kind: 'hidden', by }, 'diagnostic' in agent ? undefined : agent)),
  ].sort(
    (a, b) =>
      AGENT_GROUPS.indexOf(a.group) - AGENT_GROUPS.indexOf(b.group) ||
      compare(a.name, b.name) ||
      Number(a.state.kind === 'hidden') - Number(b.state.kind === 'hidden') ||
      compare(a.file, b.file),
  );
}

type Named = Pick<FoundAgent, 'name' | 'source' | 'file' | 'fromPackage'>;

function groupOf(source: FoundAgent['source']): AgentGroup {
  return source === 'runtime' ? 'package' : source;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Settings say something of this very agent. What they say of all agents is not taken back by resetting one. */
function isOverridden(name: string, agent: FoundAgent | undefined, state: AgentRowState): boolean {
  if (state.kind === 'refused') return state.diagnostic.code === 'override_invalid';
  const prefix = `subagents.agentOverrides.${name}.`;
  const places = Object.values(agent?.fromSettings ?? {});
  return [...places, ...(state.kind === 'disabled' ? [state.by] : [])].some(({ setting }) =>
    setting.startsWith(prefix),
  );
}

/** What is wrong with whole folders and files of settings: it belongs to no agent, and may concern all of them. */
export function folderProblems({ diagnostics }: Discovered): AgentDiagnostic[] {
  return diagnostics.filter(({ code }) => code === 'settings_invalid' || code.startsWith('directory_'));
}

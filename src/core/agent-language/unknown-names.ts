/**
 * Models, tools and skills that a definition names and this machine does not have: warnings, because they may be there
 * tomorrow, or elsewhere. Pure. What nobody has asked for is not judged.
 */
import { type AgentDiagnostic, type AgentProblem, agentProblem, type TextRange } from '../../protocol/index.ts';
import { type Agent, type FoundAgent, WITHOUT_PERMISSION } from '../agents/index.ts';
import { resolveModel, toEntry } from '../models/index.ts';
import { nearest } from '../spelling/index.ts';
import { TextPositions } from '../text-positions/index.ts';
import { placeIn } from './definition-place.ts';
import type { Known } from './surroundings.ts';

/** What is known of names; of skills with those of the definition's own `skillPath`. */
export type KnownNames = Pick<Known, 'models' | 'tools' | 'skills'>;

type Field = readonly [name: string, other?: string];

/**
 * In the order of the file. What settings say in the place of the file is not judged.
 *
 * @param given the file, for the places of names in lists; without it, and where a name is written otherwise than it reads, the
 * place is that of its field
 */
export function unknownNames(
  agent: Agent & Pick<FoundAgent, 'fromSettings'>,
  known: KnownNames,
  given?: string,
): AgentDiagnostic[] {
  if (agent.runner.type !== 'pi') return [];
  // An editor does not count a byte order mark as a column.
  const positions = given === undefined ? undefined : new TextPositions(given.replace(/^\uFEFF/, ''));
  const say = (problem: AgentProblem, value: string, [name, other = name]: Field): AgentDiagnostic[] => {
    const field = Object.hasOwn(agent.places, name) ? name : other;
    const range = agent.places[field];
    if (!range || agent.fromSettings?.[name]) return [];
    const place = positions ? placeOf(positions, value, field, range) : range;
    return [{ file: agent.file, name: agent.name, ...problem, field, ...place }];
  };
  return [...models(agent, known, say), ...tools(agent, known, say), ...skills(agent, known, say)].sort(
    (a, b) => a.line - b.line || a.column - b.column,
  );
}

type Say = (problem: AgentProblem, value: string, field: Field) => AgentDiagnostic[];

function models({ model, fallbackModels = [] }: Agent, { models: known = [] }: KnownNames, say: Say) {
  // Without any model no agent runs: that is told where it is asked for.
  if (known.length === 0) return [];
  const registry = known.map(toEntry);
  const problemOf = (name: string): AgentProblem | undefined => {
    const resolution = resolveModel({ request: name, registry });
    if (resolution.ok) return undefined;
    const { candidates, error } = resolution;
    const [near] = candidates;
    if (error.code === 'model_ambiguous')
      return agentProblem('reference_unknown:models', { name, names: candidates.join(', ') });
    return near === undefined
      ? agentProblem('reference_unknown:model', { name })
      : agentProblem('reference_unknown:model-near', { name, near });
  };
  const named: [string, Field][] = [
    ...(model === undefined || model === 'inherit' ? [] : [[model, ['model']] satisfies [string, Field]]),
    ...fallbackModels.map((name): [string, Field] => [name, ['fallbackModels']]),
  ];
  return named.flatMap(([name, field]) => {
    const problem = problemOf(name);
    return problem ? say(problem, name, field) : [];
  });
}

function tools(agent: Agent, { tools: known }: KnownNames, say: Say): AgentDiagnostic[] {
  const { extensions, subagentOnlyExtensions = [], toolExtensions } = agent;
  // Nobody knows which tools its own extensions bring.
  if (!known || (extensions?.length ?? 0) + subagentOnlyExtensions.length + toolExtensions.length > 0) return [];
  const usable = known.filter(({ extension }) => extensions === undefined || extension === undefined);
  const names = [...usable.map(({ name }) => name), ...WITHOUT_PERMISSION];
  const named: [string, Field][] = [
    ...(agent.tools ?? []).map((name): [string, Field] => [name, ['tools']]),
    ...(agent.excludeTools ?? []).map((name): [string, Field] => [name, ['excludeTools']]),
    ...Object.keys(agent.permissions ?? {}).map((name): [string, Field] => [name, ['permissions', 'permission']]),
    ...blocked(agent).map((name): [string, Field] => [name, ['toolBudget']]),
  ];
  return named.flatMap(([name, field]) => {
    if (names.includes(name)) return [];
    const near = nearest(name, names);
    const problem =
      near === undefined
        ? agentProblem('reference_unknown:tool', { name, known: usable.map((tool) => tool.name).join(', ') })
        : agentProblem('reference_unknown:tool-near', { name, near });
    return say(problem, name, field);
  });
}

function blocked({ toolBudget }: Agent): string[] {
  return Array.isArray(toolBudget?.block) ? toolBudget.block : [];
}

function skills(agent: Agent, { skills: known }: KnownNames, say: Say): AgentDiagnostic[] {
  if (!known) return [];
  const names = known.map(({ name }) => name);
  return (agent.skills ?? []).flatMap((name) => {
    if (names.includes(name)) return [];
    const near = nearest(name, names);
    const problem =
      near === undefined
        ? agentProblem('reference_unknown:skill', { name })
        : agentProblem('reference_unknown:skill-near', { name, near });
    return say(problem, name, ['skills', 'skill']);
  });
}

/** Where a name stands in a field, by itself. */
function placeOf(positions: TextPositions, value: string, field: string, range: TextRange): TextRange {
  const { text } = positions;
  const end = positions.offset(range.endLine, range.endColumn);
  let at = text.indexOf(value, positions.offset(range.line, range.column) + field.length);
  for (; at !== -1 && at < end; at = text.indexOf(value, at + 1)) {
    const place = placeIn(text, at);
    if (place?.span.start === at && place.text === value) return positions.range(at, at + value.length);
  }
  return range;
}

/** What can be written at a place of a definition. Pure; clients put words of their language to it. */
import type { AgentFieldName } from '../../protocol/index.ts';
import { FIELDS, type Span, WITHOUT_PERMISSION } from '../agents/index.ts';
import { type KnownModel, THINKING_LEVELS } from '../models/index.ts';
import { type DefinitionPlace, placeIn, type ValuePlace } from './definition-place.ts';
import { FIELD_VALUES, isKnownField, type Values, valuesAt } from './field-values.ts';
import type { Known, KnownSkill, KnownTool } from './surroundings.ts';

export type Suggestion = {
  /** What is written in the place of what stands there. */
  text: string;
  span: Span;
} & (
  | { kind: 'field'; field: AgentFieldName }
  | { kind: 'key'; field: AgentFieldName }
  | { kind: 'option'; field: AgentFieldName }
  | { kind: 'model'; model: KnownModel; isDefault: boolean }
  | { kind: 'tool'; tool: KnownTool }
  | { kind: 'skill'; skill: KnownSkill }
);

/** Other spellings of fields: understood, but not offered. */
const SPELLINGS: Readonly<Record<string, string>> = { alias: 'aliases', skill: 'skills', permission: 'permissions' };

/** In the order they should be shown. Nothing where nothing can be said. @param offset in UTF-16 units */
export function suggestionsAt(text: string, offset: number, known: Known): Suggestion[] {
  const place = placeIn(text, offset);
  if (!place) return [];
  return place.at === 'field' ? fieldNames(place) : values(place, known);
}

function fieldNames({ span, others, isClosed }: Extract<DefinitionPlace, { at: 'field' }>): Suggestion[] {
  const taken = new Set(others.flatMap((name) => [name, SPELLINGS[name] ?? name]));
  return FIELDS.filter((name) => !taken.has(name) && SPELLINGS[name] === undefined).map((field) => ({
    kind: 'field',
    field,
    span,
    text: isClosed ? field : `${field}: `,
  }));
}

function values(place: ValuePlace, known: Known): Suggestion[] {
  const { field, keys } = place;
  if (!isKnownField(field)) return [];
  const found = valuesAt(field, keys);
  if (!found) return [];
  const isMap = found.kind === 'map' || found.kind === 'rules';
  // A list of words may go on in the next line: only maps have keys.
  if (isMap && place.part === 'key') return keysOf(place, field, found, known);
  if (isMap && keys.length === 0) return field === 'acceptance' ? acceptanceLevels(place) : [];
  return offered(place, field, found, known);
}

function keysOf(place: ValuePlace, field: AgentFieldName, found: Values, known: Known): Suggestion[] {
  const { span, others } = place;
  if (found.kind === 'rules')
    return tools(known)
      .filter(({ name }) => !others.includes(name) && !WITHOUT_PERMISSION.includes(name))
      .map((tool) => ({ kind: 'tool', tool, span, text: `${tool.name}: ` }));
  return Object.keys(found.kind === 'map' ? found.keys : {})
    .filter((key) => !others.includes(key))
    .map((key) => ({ kind: 'key', field, span, text: `${key}: ` }));
}

/** The one map that can be a word as well. */
function acceptanceLevels({ span, needsSpace }: ValuePlace): Suggestion[] {
  return ['auto', 'attested', 'checked', 'false'].map((text) => ({
    kind: 'option',
    field: 'acceptance',
    span,
    text: needsSpace ? ` ${text}` : text,
  }));
}

function offered(place: ValuePlace, field: AgentFieldName, found: Values, known: Known): Suggestion[] {
  const { span, others, needsSpace } = place;
  const written = (text: string) => (needsSpace ? ` ${text}` : text);
  const isFree = (text: string) => !others.includes(text);
  switch (found.kind) {
    case 'option':
      return found.options
        .filter(isFree)
        .map((text): Suggestion => ({ kind: 'option', field, span, text: written(text) }));
    case 'tool':
      return tools(known)
        .filter(({ name }) => isFree(name))
        .map((tool): Suggestion => ({ kind: 'tool', tool, span, text: written(tool.name) }));
    case 'skill':
      return (known.skills ?? [])
        .filter(({ name }) => isFree(name))
        .map((skill): Suggestion => ({ kind: 'skill', skill, span, text: written(skill.name) }));
    case 'model':
      return models(place, field, known, written);
    default:
      return [];
  }
}

function tools({ tools: known = [] }: Known): readonly KnownTool[] {
  return known;
}

/** Behind `provider/id:` the levels of that model, else models. */
function models(
  { span, text, others }: ValuePlace,
  field: AgentFieldName,
  known: Known,
  written: (text: string) => string,
): Suggestion[] {
  const colon = text.lastIndexOf(':');
  const named = colon < 0 ? undefined : known.models?.find(({ name }) => name === text.slice(0, colon));
  if (named) {
    const levels = named.reasoning ? THINKING_LEVELS : THINKING_LEVELS.slice(0, 1);
    return levels.map((level) => ({ kind: 'option', field, span, text: written(`${named.name}:${level}`) }));
  }
  const inherit: Suggestion[] = FIELD_VALUES[field].isList
    ? []
    : [{ kind: 'option', field, span, text: written('inherit') }];
  const taken = others.map((one) => one.replace(/:[a-z]+$/, ''));
  return [
    ...(known.models ?? [])
      .filter(({ name }) => !taken.includes(name))
      .map(
        (model): Suggestion => ({
          kind: 'model',
          model,
          isDefault: model.name === known.defaultModel,
          span,
          text: written(model.name),
        }),
      ),
    ...inherit,
  ];
}

/** What stands at a place of a definition, and what is known of it. Pure; clients put words of their language to it. */
import type { AgentFieldName } from '../../protocol/index.ts';
import type { FoundAgent, SettingPlace, Span } from '../agents/index.ts';
import { type KnownModel, resolveModel, splitLevel, type ThinkingLevel, toEntry } from '../models/index.ts';
import { placeIn, type ValuePlace } from './definition-place.ts';
import { isKnownField, valuesAt } from './field-values.ts';
import type { Known, KnownSkill, KnownTool } from './surroundings.ts';

/** A field that settings have the last word about. */
export interface FromSettings {
  field: string;
  /** `undefined`: they take it away. */
  value: unknown;
  place: SettingPlace;
}

export type Explanation = { span: Span } & (
  | {
      kind: 'field';
      field: AgentFieldName;
      /** Of a name those of all fields, of any other field its own. */
      settings: FromSettings[];
      /** Of a name: the definition that is used instead of this one. */
      hiddenBy?: FoundAgent;
    }
  | { kind: 'model'; model: KnownModel; level: ThinkingLevel | undefined; isDefault: boolean }
  | { kind: 'tool'; tool: KnownTool }
  | { kind: 'skill'; skill: KnownSkill }
);

/** @param file that the text is from, absolute; @param offset in UTF-16 units */
export function explanationAt(text: string, offset: number, file: string, known: Known): Explanation | undefined {
  const place = placeIn(text, offset);
  if (!place || place.span.end === place.span.start) return undefined;
  if (place.at === 'value') return valueExplanation(place, known);
  const { text: field, span } = place;
  if (!isKnownField(field)) return undefined;
  const own = known.agents.find((agent) => agent.file === file);
  if (field !== 'name') return { kind: 'field', span, field, settings: own ? fromSettings(own, [field]) : [] };
  const hiddenBy = own ? undefined : namedIn(text, known);
  return {
    kind: 'field',
    span,
    field,
    settings: own ? fromSettings(own, Object.keys(own.fromSettings ?? {})) : [],
    ...(hiddenBy && { hiddenBy }),
  };
}

function namedIn(text: string, { agents }: Known): FoundAgent | undefined {
  const name = /^name:[ \t]*(.*?)[ \t]*$/m.exec(text)?.[1] ?? '';
  return agents.find((agent) => agent.name === name);
}

/** Fields that settings name otherwise than the file may. */
const SPELLINGS: Readonly<Record<string, string>> = { alias: 'aliases', skill: 'skills', permission: 'permissions' };

function fromSettings(agent: FoundAgent, fields: readonly string[]): FromSettings[] {
  const values = new Map<string, unknown>(Object.entries(agent));
  return fields.flatMap((given) => {
    const field = SPELLINGS[given] ?? given;
    const place = agent.fromSettings?.[field];
    return place ? [{ field, value: values.get(field), place }] : [];
  });
}

function valueExplanation({ field, keys, part, span, text }: ValuePlace, known: Known): Explanation | undefined {
  const found = valuesAt(field, keys);
  const isRule = found?.kind === 'rules' && part === 'key';
  if (found?.kind === 'tool' || isRule) {
    const tool = known.tools?.find(({ name }) => name === text);
    return tool && { kind: 'tool', span, tool };
  }
  if (found?.kind === 'skill') {
    const skill = known.skills?.find(({ name }) => name === text);
    return skill && { kind: 'skill', span, skill };
  }
  if (found?.kind === 'model') {
    const named = modelMeant(text, known);
    return named && { kind: 'model', span, ...named };
  }
  return undefined;
}

/** The model that a launch would take for these words. */
function modelMeant(text: string, { models = [], defaultModel }: Known) {
  if (models.length === 0 || text === 'inherit') return undefined;
  const resolution = resolveModel({ request: text, registry: models.map(toEntry) });
  if (!resolution.ok || !resolution.entry) return undefined;
  const { model } = resolution.entry;
  return { model, level: splitLevel(text).thinking, isDefault: model.name === defaultModel };
}

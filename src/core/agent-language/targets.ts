/** Where that is which a place of a definition names. Pure: whether a file is there is looked up by whoever goes to it. */
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { TextRange } from '../../protocol/index.ts';
import type { FoundAgent, Span } from '../agents/index.ts';
import { placeIn, type ValuePlace } from './definition-place.ts';
import { valuesAt } from './field-values.ts';
import type { Known } from './surroundings.ts';

export interface Target {
  /** What leads there. */
  span: Span;
  /** Absolute files, the likeliest first; the first that is there is meant. */
  files: string[];
  /** In that file. */
  range?: TextRange;
}

export interface TargetPlaces {
  /** Of the definition, absolute. */
  file: string;
  /** Folder that agents work in, absolute. */
  cwd: string;
  home: string;
}

/** @param offset in UTF-16 units */
export function targetAt(text: string, offset: number, places: TargetPlaces, known: Known): Target | undefined {
  const place = placeIn(text, offset);
  if (!place) return undefined;
  if (place.at === 'value') return valueTarget(place, places, known);
  // From a field to the settings that have the last word about it.
  const own = known.agents.find(({ file }) => file === places.file);
  const setting = own?.fromSettings?.[place.text];
  return setting && { span: place.span, files: [setting.file], range: setting };
}

function valueTarget(place: ValuePlace, places: TargetPlaces, known: Known): Target | undefined {
  const { field, keys, span, text } = place;
  const found = valuesAt(field, keys);
  if (!found || text === '') return undefined;
  switch (found.kind) {
    case 'skill': {
      const skill = known.skills?.find(({ name }) => name === text);
      return skill && { span, files: [join(skill.path, 'SKILL.md'), skill.path] };
    }
    case 'tool': {
      if (/[\\/]/.test(text)) return { span, files: [fromFile(text, places)] };
      const extension = known.tools?.find(({ name }) => name === text)?.extension;
      return extension === undefined ? undefined : { span, files: [extension] };
    }
    case 'path':
      return { span, files: pathFiles(field, text, places) };
    case 'agent': {
      const other = known.agents.find((agent) => agent.file !== places.file && isCalled(agent, text));
      const range = other?.places['name'];
      return other && { span, files: [other.file], ...(range && { range }) };
    }
    default:
      return undefined;
  }
}

function isCalled({ name, localName, aliases }: FoundAgent, text: string): boolean {
  return name === text || localName === text || aliases.includes(text);
}

function pathFiles(field: string, text: string, places: TargetPlaces): string[] {
  if (field === 'defaultReads') return [resolve(places.cwd, text)];
  const path = fromFile(text, places);
  return field === 'skillPath'
    ? [join(path, 'SKILL.md'), path]
    : [path, join(path, 'index.ts'), join(path, 'index.js')];
}

function fromFile(text: string, { file, home }: TargetPlaces): string {
  if (/^~[\\/]/.test(text)) return join(home, text.slice(1));
  return isAbsolute(text) ? text : resolve(dirname(file), text);
}

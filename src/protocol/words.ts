/**
 * What a finding says, not yet in any language: texts of `finding-texts.ts`, each with what fills its places. `spellOut` makes
 * a string of it: English, or whatever language the editor has.
 */
import type * as z from 'zod/mini';
import { FAULTS_SHOWN, fillText, type PlacesIn } from './errors.ts';
import { FINDING_TEXTS, RULE_TEXTS } from './finding-texts.ts';

export type FindingTextId = keyof typeof FINDING_TEXTS;

/** A text of the catalogue, and what its places are filled with. */
export interface Phrase {
  text: FindingTextId;
  params?: Record<string, Words>;
}

/** Names, numbers and code stand for themselves; what is in a list follows each other. */
export type Words = string | number | Phrase | Words[];

type Places<T extends FindingTextId> = PlacesIn<(typeof FINDING_TEXTS)[T]>;
type Filling<T extends FindingTextId> = [Places<T>] extends [never] ? [] : [params: Record<Places<T>, Words>];

export function say<T extends FindingTextId>(text: T, ...[params]: Filling<T>): Phrase {
  return params === undefined ? { text } : { text, params };
}

/** Sentences with a space between them; those that are not there are left out. */
export function sentences(...parts: (Phrase | undefined)[]): Words {
  return parts.filter((part) => part !== undefined).flatMap((part, at) => (at === 0 ? [part] : [' ', part]));
}

export function didYouMean(name: string | undefined): Phrase | undefined {
  return name === undefined ? undefined : say('did_you_mean', { name });
}

/** @param fill puts parameters into a text; a translation translates the text before */
export function spellOut(
  words: Words,
  fill: (text: string, params: Record<string, string>) => string = fillText,
): string {
  if (typeof words !== 'object') return String(words);
  if (Array.isArray(words)) return words.map((part) => spellOut(part, fill)).join('');
  const params = Object.entries(words.params ?? {}).map(([name, value]) => [name, spellOut(value, fill)]);
  return fill(FINDING_TEXTS[words.text], Object.fromEntries(params));
}

/** Whether a value that came from another thread can be spelled out. */
export function isWords(value: unknown): value is Words {
  if (typeof value === 'string' || typeof value === 'number') return true;
  if (Array.isArray(value)) return value.every(isWords);
  if (typeof value !== 'object' || value === null || !('text' in value)) return false;
  if (typeof value.text !== 'string' || !Object.hasOwn(FINDING_TEXTS, value.text)) return false;
  if (!('params' in value)) return true;
  return typeof value.params === 'object' && value.params !== null && Object.values(value.params).every(isWords);
}

/** What a schema refused, as `describeFaults` has it, but for the name of the value. */
export function ruleWords({ issues }: z.core.$ZodError): Words {
  const rules = issues.slice(0, FAULTS_SHOWN).map(({ path, message }, at): Words => {
    const place = path.length === 0 ? '' : `${path.join('.')}: `;
    return [at === 0 ? place : `; ${place}`, ruleOf(message)];
  });
  const more = issues.length - FAULTS_SHOWN;
  return more > 0 ? [...rules, '; ', say('rules:more', { count: more })] : rules;
}

/** The text that a message was made from; one that is not of the catalogue stays as it is. */
function ruleOf(message: string): Words {
  for (const [text, pattern] of rulePatterns()) {
    const match = pattern.exec(message);
    if (match) return { text, ...(match.groups && { params: { ...match.groups } }) };
  }
  return message;
}

let patterns: Map<keyof typeof RULE_TEXTS, RegExp> | undefined;

function rulePatterns(): Map<keyof typeof RULE_TEXTS, RegExp> {
  patterns ??= new Map(
    Object.keys(RULE_TEXTS)
      .filter(isRule)
      .map((id) => [id, patternOf(RULE_TEXTS[id])]),
  );
  return patterns;
}

function isRule(id: string): id is keyof typeof RULE_TEXTS {
  return Object.hasOwn(RULE_TEXTS, id);
}

function patternOf(text: string): RegExp {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\\\{(\w+)\\\}/g, '(?<$1>.+)')}$`, 's');
}

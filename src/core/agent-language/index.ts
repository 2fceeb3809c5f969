export { type Suggestion, suggestionsAt } from './completions.ts';
export { type DefinitionPlace, placeIn } from './definition-place.ts';
export { type Explanation, explanationAt, type FromSettings } from './explanations.ts';
export { FIELD_VALUES } from './field-values.ts';
export type { Known, KnownSkill, KnownTool } from './surroundings.ts';
export { type Target, type TargetPlaces, targetAt } from './targets.ts';
export { type KnownNames, unknownNames } from './unknown-names.ts';

/** What Pi's settings files say about models, below `subagents`. */
import * as z from 'zod/mini';
import { readJsonFile } from '../json-files/index.ts';
import { type ModelScope, modelScope } from './model-scope.ts';
import { isAbove, THINKING_LEVELS, type ThinkingLevel } from './thinking-level.ts';

const settings = z.looseObject({
  subagents: z.optional(
    z.looseObject({ modelScope: z.optional(modelScope), maxThinking: z.optional(z.enum(THINKING_LEVELS)) }),
  ),
});

export interface ModelBounds {
  scope?: ModelScope;
  maxThinking?: ThinkingLevel;
}

/**
 * @param files of the user, then of the project: its scope takes the place of the user's, but no project raises the user's highest level
 * @throws LanesError `config_invalid` naming file and field
 */
export async function readModelBounds(files: readonly string[]): Promise<ModelBounds> {
  let bounds: ModelBounds = {};
  for (const file of files) {
    const { modelScope: scope, maxThinking } = (await readJsonFile(file, settings))?.subagents ?? {};
    const isLower =
      maxThinking !== undefined && (bounds.maxThinking === undefined || isAbove(bounds.maxThinking, maxThinking));
    bounds = { ...bounds, ...(scope === undefined ? {} : { scope }), ...(isLower ? { maxThinking } : {}) };
  }
  return bounds;
}

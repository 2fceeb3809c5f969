import { THINKING_LEVELS } from '../../protocol/index.ts';

export { THINKING_LEVELS };
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

export function isThinkingLevel(text: unknown): text is ThinkingLevel {
  return (THINKING_LEVELS as readonly unknown[]).includes(text);
}

/** Whether a level asks for more than another. */
export function isAbove(level: ThinkingLevel, most: ThinkingLevel): boolean {
  return THINKING_LEVELS.indexOf(level) > THINKING_LEVELS.indexOf(most);
}

/** `provider/id:high` as model and thinking level. Any other word behind a colon belongs to the model. */
export function splitLevel(text: string): { model: string; thinking: ThinkingLevel | undefined } {
  const at = text.lastIndexOf(':');
  const level = text.slice(at + 1);
  return at > 0 && isThinkingLevel(level)
    ? { model: text.slice(0, at), thinking: level }
    : { model: text, thinking: undefined };
}

/** The next step as somebody takes it who sits at a terminal: texts of the catalogue may name what only the editor has. */
import { type ErrorValue, fillText, textOf } from '../protocol/index.ts';

/** @param run what the command line calls the run; absent: it is not known which one is meant */
export function nextStep(error: ErrorValue, run?: string): string | undefined {
  const { cli } = textOf(error) ?? {};
  if (cli === undefined) return error.hint;
  const step = fillText(cli, error.params ?? {});
  return run === undefined ? step : step.replaceAll(/\bRUN\b/g, () => run);
}

/** The error with its next step. */
export function withNextStep(error: ErrorValue, run?: string): ErrorValue {
  const hint = nextStep(error, run);
  return hint === undefined ? error : { ...error, hint };
}

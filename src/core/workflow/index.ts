/** The workflow language: the static check of scripts, and running them. What reads scripts itself runs in `validate-worker.ts`. */
export { agentFindings } from './agent-findings.ts';
export { applySafeFixes } from './apply-fixes.ts';
export * from './engine/index.ts';
export { NAMED_WORKFLOWS, type NamedWorkflow, namedWorkflow } from './named-workflows.ts';
export { childOutput, pathWord } from './output-paths.ts';
export { preflightWarnings } from './preflight.ts';
export { ScriptValidator, type ScriptValidatorOptions } from './script-validator.ts';
export { toValidation, type Validation } from './validation.ts';

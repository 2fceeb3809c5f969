/** What is wrong with the definition of an agent, or with what is looked through for agents. */
import * as z from 'zod/mini';
import { AGENT_TEXTS, type AgentText, type AgentTextId } from './agent-texts.ts';
import { type ErrorParams, fillText, type PlacesIn } from './errors.ts';
import type { TextRange } from './workflow-findings.ts';

export const AGENT_CODES = [
  'file_unreadable',
  'file_not_text',
  'file_too_large',
  'name_duplicate',
  'header_missing',
  'header_unclosed',
  'header_not_fields',
  'header_line_ignored',
  'yaml_invalid',
  'yaml_mended',
  'yaml_differs',
  'field_missing',
  'field_duplicate',
  'field_conflict',
  'field_unknown',
  'field_invalid',
  'field_ignored',
  'field_unsupported',
  'reference_unknown',
  'directory_unreadable',
  'directory_not_folder',
  'directory_too_large',
  'settings_invalid',
  'override_invalid',
  'override_unknown',
] as const;
const agentDiagnosticCode = z.enum(AGENT_CODES);
export type AgentDiagnosticCode = z.infer<typeof agentDiagnosticCode>;

/**
 * `error`: the definition is not used, and its name is refused until it is mended. `warning`: something in it is not used, or
 * cannot be launched. `info`: nothing is wrong here, but others read it differently.
 */
export type AgentSeverity = 'error' | 'warning' | 'info';

/** Codes that do not make a definition unusable; all others do. */
const MILDER: Readonly<Partial<Record<AgentDiagnosticCode, AgentSeverity>>> = {
  name_duplicate: 'warning',
  header_missing: 'warning',
  header_line_ignored: 'warning',
  yaml_mended: 'warning',
  yaml_differs: 'info',
  field_duplicate: 'warning',
  field_unknown: 'warning',
  field_ignored: 'warning',
  field_unsupported: 'warning',
  reference_unknown: 'warning',
  directory_not_folder: 'warning',
  directory_too_large: 'warning',
  override_unknown: 'warning',
};

export interface AgentDiagnostic extends TextRange {
  /** Absolute; a folder where it is one that cannot be read. */
  file: string;
  /** The agent's name, as far as it could be made out. */
  name?: string;
  /** The field it is about. */
  field?: string;
  code: AgentDiagnosticCode;
  severity: AgentSeverity;
  /** In English. */
  message: string;
  /** The next step, in English. */
  hint: string;
  /** Which text of the catalogue message and hint are, and what fills its places: for clients of other languages. */
  text: AgentTextId;
  params?: ErrorParams;
}

type TextOf<T extends AgentTextId> = (typeof AGENT_TEXTS)[T];
type Places<T extends AgentTextId> = PlacesIn<TextOf<T>[keyof TextOf<T>]>;

/** A problem without its place. */
export type AgentProblem = Omit<AgentDiagnostic, 'file' | 'name' | keyof TextRange>;

export function agentProblem<T extends AgentTextId>(
  text: T,
  ...[params]: [Places<T>] extends [never] ? [] : [params: Record<Places<T>, string | number>]
): AgentProblem {
  const { message, hint }: AgentText = AGENT_TEXTS[text];
  const given: ErrorParams = params ?? {};
  const code = agentDiagnosticCode.parse(text.split(':')[0]);
  const { field } = given;
  return {
    code,
    severity: MILDER[code] ?? 'error',
    message: fillText(message, given),
    hint: fillText(hint, given),
    text,
    ...(typeof field === 'string' ? { field } : {}),
    ...(params === undefined ? {} : { params: given }),
  };
}

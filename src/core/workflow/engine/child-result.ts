/** What became of a child, as scripts see it. */
import { toJsonText } from './prelude/boundary.ts';

/** A child's result: plain JSON with at least these fields. Hosts may add more; scripts see them. */
export interface ChildView {
  key: string;
  ok: boolean;
  output: string;
  artifactPaths: string[];
  runId?: string;
  error?: string;
  agent?: string;
  stopped?: true;
  interrupted?: true;
  detached?: true;
  outputReference?: string;
  structuredOutput?: unknown;
  continuation?: { runIds: string[] };
  [field: string]: unknown;
}

/** Whether `runs.run` resolves with the result, and if not, with which error it rejects. */
export type Fate = { resolves: true } | { resolves: false; kind: 'detached-child' | 'script'; message: string };

export type ChildState = 'completed' | 'failed' | 'stopped' | 'detached';

export function stateOf(view: ChildView): ChildState {
  if (view.stopped) return 'stopped';
  if (view.detached) return 'detached';
  return view.ok ? 'completed' : 'failed';
}

export function fateOf(view: ChildView): Fate {
  if (view.ok || view.stopped || isObject(view['recovery'])) return { resolves: true };
  const reason = view.error || view.output.trim() || 'it gave no reason';
  return view.detached
    ? { resolves: false, kind: 'detached-child', message: `Run '${view.key}' detached: ${reason}` }
    : { resolves: false, kind: 'script', message: `Run '${view.key}' failed: ${reason}` };
}

/** A child that did not start, or whose answer could not be used. */
export function failedView(key: string, message: string): ChildView {
  return { key, ok: false, output: message, error: message, artifactPaths: [] };
}

const FLAGS = ['stopped', 'interrupted', 'detached'] as const;

/**
 * What a host answered, as scripts may see it. Anything that is no plain JSON makes the child fail and names its key; only the
 * detailed `results` are left out instead, because they are records for the host.
 * @returns the result, and the `results` that were left out
 */
export function readHostResult(key: string, answer: unknown): { view: ChildView; withheld?: unknown } {
  if (!isObject(answer))
    return { view: failedView(key, `Run '${key}' gave no result: the host answered ${typeof answer}.`) };
  let withheld: unknown;
  let source: Record<string, unknown> = { ...answer };
  if (source['results'] !== undefined) {
    try {
      toJsonText(source['results'], 'results', 'return');
    } catch {
      const { results, ...rest } = source;
      withheld = results;
      source = rest;
    }
  }
  let plain: unknown;
  try {
    plain = JSON.parse(toJsonText(source, 'result', 'return'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { view: failedView(key, `The result of run '${key}' is no plain JSON: ${reason}.`) };
  }
  const fields = isObject(plain) ? plain : {};
  for (const flag of FLAGS) if (fields[flag] !== true) delete fields[flag];
  const view: ChildView = {
    ...fields,
    key,
    ok: fields['ok'] === true && !FLAGS.some((flag) => fields[flag]) && !isObject(fields['recovery']),
    output: typeof fields['output'] === 'string' ? fields['output'] : '',
    artifactPaths: Array.isArray(fields['artifactPaths'])
      ? fields['artifactPaths'].filter((path) => typeof path === 'string')
      : [],
  };
  if (view.ok) delete view.error;
  else if (typeof view.error !== 'string' || view.error === '') {
    view.error = view.output.trim() || (view.stopped ? 'It was stopped.' : 'It failed without a reason.');
  }
  return withheld === undefined ? { view } : { view, withheld };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

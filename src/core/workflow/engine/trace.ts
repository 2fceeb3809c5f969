/** What is told of a workflow from outside, in the order in which it happened. */

export interface TraceRow {
  operation: 'run' | 'status' | 'steer' | 'host';
  key: string;
  state: string;
  agent?: string;
  runId?: string;
  durationMs?: number;
  phase?: string;
  label?: string;
  error?: string;
  generatedLaneKey?: true;
  lane?: unknown;
}

export type ConsoleEntry = { level: string; text: string };

/** What every row of a child has, from the parameters of its launch. */
export function launchRow(
  params: Readonly<Record<string, unknown>>,
  generatedLaneKey: true | undefined,
): Partial<TraceRow> {
  const row: Partial<TraceRow> = {};
  for (const name of ['agent', 'phase', 'label'] as const) {
    const value = params[name];
    if (typeof value === 'string' && value.trim() !== '') row[name] = value.trim();
  }
  if (generatedLaneKey) row.generatedLaneKey = true;
  if (params['lane'] !== undefined) row.lane = params['lane'];
  return row;
}

/** What a workflow has left behind, part by part: what is missing or damaged says so, and hides nothing of the rest. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf, readRegular } from '../core/files/index.ts';
import { readJournal } from '../core/journal/index.ts';
import { runLayout } from '../core/projects/index.ts';
import { readStored } from '../core/runs/index.ts';
import { describeFaults, type JournalLine, wordsOf } from '../protocol/index.ts';

/** A part of a run as it was found. */
export type Found<T> =
  | { state: 'there'; value: T }
  /** It was not written, or removed. */
  | { state: 'missing' }
  /** `reason`: in English, as the system or the schema has it. */
  | { state: 'damaged'; reason: string };

const consoleLines = z.array(z.object({ level: z.string(), text: z.string() }));
const traceRows = z.array(
  z.looseObject({
    operation: z.string(),
    key: z.string(),
    state: z.string(),
    agent: z.optional(z.string()),
    durationMs: z.optional(z.number()),
    error: z.optional(z.string()),
  }),
);
export type TraceRows = z.infer<typeof traceRows>;
export type ConsoleLines = z.infer<typeof consoleLines>;

export interface WorkflowReport {
  directory: string;
  /** What the script returned; `missing` when it failed. */
  value: Found<unknown>;
  emits: Found<unknown[]>;
  console: Found<ConsoleLines>;
  trace: Found<TraceRows>;
  receipt: Found<unknown>;
  /** Emits and console come from the journal, because there is no result that has them. */
  isFromJournal: boolean;
}

/** Reads all of it. Never rejects for what it finds. */
export async function readWorkflowReport(directory: string): Promise<WorkflowReport> {
  const [result, receipt] = await Promise.all([
    readJson(join(directory, 'result.json')),
    readJson(join(directory, 'receipt.json')),
  ]);
  const report: WorkflowReport = {
    directory,
    value: partOf(result, 'value', z.unknown()),
    emits: partOf(result, 'emits', z.array(z.unknown())),
    console: partOf(result, 'console', consoleLines),
    trace: partOf(result, 'trace', traceRows),
    receipt,
    isFromJournal: false,
  };
  if (report.emits.state === 'there' && report.console.state === 'there') return report;
  const said = await readSaid(directory).catch(() => undefined);
  if (!said) return report;
  return {
    ...report,
    isFromJournal: true,
    emits: report.emits.state === 'there' ? report.emits : said.emits,
    console: report.console.state === 'there' ? report.console : { state: 'there', value: said.console },
  };
}

async function readJson(path: string): Promise<Found<unknown>> {
  try {
    return { state: 'there', value: JSON.parse(await readRegular(path)) };
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? { state: 'missing' } : { state: 'damaged', reason: wordsOf(error) };
  }
}

function partOf<T>(whole: Found<unknown>, name: string, schema: z.ZodMiniType<T>): Found<T> {
  if (whole.state !== 'there') return whole;
  const fields = z.looseObject({}).safeParse(whole.value);
  if (!fields.success) return { state: 'damaged', reason: describeFaults(fields.error) };
  if (!Object.hasOwn(fields.data, name)) return { state: 'missing' };
  const parsed = schema.safeParse(fields.data[name]);
  return parsed.success
    ? { state: 'there', value: parsed.data }
    : { state: 'damaged', reason: describeFaults(parsed.error) };
}

type Said = { emits: Found<unknown[]>; console: ConsoleLines };

/** What the script had published up to the last step that was written down. */
async function readSaid(directory: string): Promise<Said> {
  const { lines } = await readJournal(runLayout(directory).journal);
  const emits: unknown[] = [];
  let damaged: string | undefined;
  const console: ConsoleLines = [];
  for (const line of saidLines(lines)) {
    console.push(...line.console);
    for (const emit of line.emits) {
      try {
        emits.push(JSON.parse('json' in emit ? emit.json : await readStored(directory, emit.body)));
      } catch (error) {
        damaged ??= wordsOf(error);
      }
    }
  }
  const found: Said['emits'] =
    damaged === undefined ? { state: 'there', value: emits } : { state: 'damaged', reason: damaged };
  return { emits: found, console };
}

type SaidLine = Extract<JournalLine, { type: 'workflow.said' }>;

/** A step that is told again takes the place of what was told of it and of all later ones. */
function saidLines(lines: readonly JournalLine[]): SaidLine[] {
  let told: SaidLine[] = [];
  let open: SaidLine[] = [];
  for (const line of lines) {
    if (line.type === 'workflow.said') open.push(line);
    else if (line.type === 'runner.started') open = [];
    else if (line.type === 'workflow.stepped' && !line.more) {
      told = [...told.filter(({ step }) => step < line.step), ...open];
      open = [];
    }
  }
  return told;
}

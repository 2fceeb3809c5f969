import { join, resolve } from 'node:path';
import { ScriptValidator, toValidation } from '../../core/workflow/index.ts';
import { analysisOptions, describeFaults, lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';
import { formatFinding } from '../format-finding.ts';
import { readGiven, scriptUnreadable } from '../given-file.ts';

export interface ValidateOptions {
  maxSpawns: string | undefined;
  json: boolean | undefined;
}

/** Checks scripts. All are read first: with one that cannot be read, nothing is said of the others. */
export async function validateCommand(
  context: CliContext,
  files: readonly string[],
  { maxSpawns, json }: ValidateOptions,
): Promise<number> {
  const options = parseOptions(maxSpawns);
  const scripts: { file: string; script: string }[] = [];
  for (const file of files) scripts.push({ file, script: await readScript(context, file) });
  await using validator = new ScriptValidator({
    worker: join(context.toolbox.distDirectory, 'validate-worker.mjs'),
  });
  const checked = [];
  for (const { file, script } of scripts) {
    const { findings } = await validator.analyse(script, options);
    checked.push({ file, script, findings, ...toValidation(findings) });
  }
  const ok = checked.every((one) => one.ok);
  if (json) {
    printJson(context, {
      ok,
      files: checked.map(({ file, ok: good, errors, warnings }) => ({ file, ok: good, errors, warnings })),
    });
  } else {
    for (const { file, script, findings } of checked) {
      for (const finding of findings) context.out(formatFinding(file, script, finding));
    }
    context.out(summary(checked));
  }
  return ok ? EXIT.ok : EXIT.runFailed;
}

function parseOptions(maxSpawns: string | undefined) {
  if (maxSpawns === undefined) return {};
  const parsed = analysisOptions.safeParse({
    maxSubagentSpawnsPerRun: maxSpawns.trim() === '' ? Number.NaN : Number(maxSpawns),
  });
  if (parsed.success) return parsed.data;
  throw lanesError('launch_invalid:max-spawns', { value: maxSpawns, faults: describeFaults(parsed.error) });
}

function readScript({ cwd }: CliContext, file: string): Promise<string> {
  const path = file === '-' ? file : resolve(cwd, file);
  const shown = file === '-' ? 'standard input' : path;
  return readGiven(path, (reason) => scriptUnreadable(shown, reason));
}

function summary(checked: readonly { errors: unknown[]; warnings: unknown[] }[]): string {
  const errors = checked.reduce((sum, one) => sum + one.errors.length, 0);
  const warnings = checked.reduce((sum, one) => sum + one.warnings.length, 0);
  return `${count(checked.length, 'script')}: ${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

#!/usr/bin/env node
// A stand-in for Pi's command line that misbehaves on demand. Needs nothing but Node and the files beside it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readArguments } from './arguments.mjs';
import { Fake, StartError } from './fake.mjs';
import { PlanError } from './plan.mjs';
import { SessionError } from './session-file.mjs';
import { StateFolder } from './state-folder.mjs';
import { abilitiesOf } from './versions.mjs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

function main() {
  const args = process.argv.slice(2);
  const abilities = abilitiesOf(version);
  const { values, error } = readArguments(args, abilities);
  const state = new StateFolder(fileURLToPath(new URL('../state', import.meta.url)));
  const isQuery = values.wantsVersion || values.wantsModels || values.mode !== 'rpc';
  const kind = isQuery ? 'query' : values.noSession ? 'probe' : 'child';
  state.noteProcess(kind, process.pid);
  const launchNumber = state.count(`launch-${kind}`, {
    kind,
    pid: process.pid,
    args,
    cwd: process.cwd(),
    env: Object.keys(process.env).sort(),
  });
  const launch = state.launchPlan(process.env, kind, args.join(' '));
  if (error !== undefined) throw new StartError(`Error: ${error}`);
  if (values.wantsVersion) {
    (abilities.settles ? process.stdout : process.stderr).write(`${version}\n`);
    return;
  }
  const fake = new Fake({ version, abilities, args: values, launch, launchNumber, state });
  if (values.wantsModels) {
    const lines = fake.models.map((model) => `${model.provider}  ${model.id}  128K  4.1K  yes  no\n`);
    (abilities.settles ? process.stdout : process.stderr).write(
      `provider  model  context  max-out  thinking  images\n${lines.join('')}`,
    );
    return;
  }
  if (values.mode !== 'rpc') throw new StartError('Error: the fake speaks only --mode rpc');
  fake.serve();
}

try {
  main();
} catch (error) {
  const isExpected = error instanceof StartError || error instanceof SessionError;
  const text = error instanceof PlanError ? `fake pi: ${error.message}` : isExpected ? error.message : error.stack;
  process.stderr.write(`${text}\n`);
  process.exitCode = isExpected ? 1 : 70;
}

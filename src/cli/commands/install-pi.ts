/** `pi-lanes install-pi`: Pi into a folder of Pi Lanes' own, after a question. */
import { createInterface } from 'node:readline/promises';
import { installOfferedPi, type PiInstallOffer, prepareInstall } from '../../client/index.ts';
import { type InstallStep, PI_MEGABYTES, PI_PACKAGE, type PiLocation } from '../../core/toolchain/index.ts';
import { lanesError } from '../../protocol/index.ts';
import { type CliContext, EXIT, printJson } from '../context.ts';

const STEPS: Record<InstallStep, string> = {
  waiting: 'Another window or command line installs Pi; waiting for it …',
  downloading: 'Downloading and installing; this can take some minutes …',
  checking: 'Checking what was installed …',
};

export async function installPiCommand(
  context: CliContext,
  options: { yes?: boolean | undefined; json?: boolean | undefined },
): Promise<number> {
  const calledOff = new AbortController();
  const callOff = () => calledOff.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, callOff);
  try {
    const offer = await prepareInstall(context.toolbox, calledOff.signal);
    if (offer.present) return report(context, offer, offer.present, options.json);
    // Questions and progress go to stderr: stdout is for the answer.
    context.err(describe(offer));
    if (!options.yes && !(await consent(calledOff.signal))) {
      context.err('Nothing was installed.');
      return EXIT.refused;
    }
    const pi = await installOfferedPi(offer, (step) => context.err(STEPS[step]));
    return report(context, offer, pi, options.json);
  } catch (error) {
    if (!calledOff.signal.aborted) throw error;
    context.err('Called off. Nothing was installed.');
    return EXIT.interrupted;
  } finally {
    for (const signal of signals) process.off(signal, callOff);
  }
}

function report(
  context: CliContext,
  { folder, usedInstead }: PiInstallOffer,
  { version, file }: PiLocation,
  json: boolean | undefined,
): number {
  if (json) printJson(context, { version, file, folder, usedInstead: usedInstead?.file ?? null });
  else context.out(`Pi ${version} is installed: ${file}`);
  return EXIT.ok;
}

function describe({ version, registry, folder, usedInstead }: PiInstallOffer): string {
  const before = usedInstead
    ? `\n  It would not be used: ${usedInstead.file} (${usedInstead.origin}) goes before it.`
    : '';
  return `Pi ${version} (${PI_PACKAGE} and the packages it needs, about ${PI_MEGABYTES} MB)
  from  ${registry}, through npm with your configuration
  to    ${folder}
  Nothing else on this machine is changed.${before}`;
}

/** Without a person to ask, somebody must have said `--yes`. */
async function consent(signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw lanesError('launch_invalid:nobody-asked');
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question('Install it? [y/N] ', { signal })).trim());
  } finally {
    asking.close();
  }
}

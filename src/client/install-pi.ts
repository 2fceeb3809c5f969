/** Install Pi… for every client: what would be installed, and the install itself. */
import {
  findNpm,
  type InstallPiOptions,
  type InstallStep,
  installPi,
  offerPi,
  type PiLocation,
  type PiOffer,
  piInFolder,
} from '../core/toolchain/index.ts';
import type { Toolbox } from './toolbox.ts';

/** A Pi that goes before the copy, so that the copy would not be used. */
export interface UsedInstead {
  file: string;
  /** Where it was found, in words; for a path that is configured, where that stands. */
  origin: string;
  place: 'configured' | 'path';
}

export interface PiInstallOffer extends PiOffer {
  usedInstead: UsedInstead | undefined;
  /** This very version is installed already. */
  present: PiLocation | undefined;
  options: InstallPiOptions;
}

/** Looks up what can be installed; nothing is changed. Throws `node_not_found`, `npm_not_found`, `npm_failed`. */
export async function prepareInstall(toolbox: Toolbox, signal?: AbortSignal): Promise<PiInstallOffer> {
  const node = await toolbox.node();
  const places = toolbox.piPlaces(node);
  const options = { ...places, npm: await findNpm(node, toolbox.env), signal };
  const offer = await offerPi(options);
  return {
    ...offer,
    usedInstead: await whatGoesBefore(toolbox),
    present: await piInFolder(offer.folder, places),
    options,
  };
}

async function whatGoesBefore(toolbox: Toolbox): Promise<UsedInstead | undefined> {
  const { path, source } = await toolbox.piPath();
  // Also when it names no Pi: then it is an error, and nothing else is looked at.
  if (path !== undefined) return { file: path, origin: source, place: 'configured' };
  const found = await toolbox
    .node()
    .then((node) => toolbox.pi(node))
    .catch(() => undefined);
  return found?.place === 'path' ? { file: found.file, origin: found.origin, place: 'path' } : undefined;
}

/** Installs it, or finds that another window has done so. The signal given when it was prepared calls it off. */
export function installOfferedPi(
  { options, ...offer }: PiInstallOffer,
  onStep: (step: InstallStep) => void,
  signal: AbortSignal | undefined = options.signal,
): Promise<PiLocation> {
  return installPi(offer, { ...options, signal, onStep });
}

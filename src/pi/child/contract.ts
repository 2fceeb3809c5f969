/** What the runner tells the extension by environment is for it alone: tools must not inherit it. */
import { readFileSync } from 'node:fs';
import { type ChildContract, CONTRACT_ENV, CONTRACT_VARIABLES } from '../../protocol/index.ts';

/** Outlives the extension: Pi loads it anew, in the same process, when it replaces a session. */
const KEPT = Symbol.for('pi-lanes.contract');

/**
 * Takes the runner's variables out of `env` (the process's own, changed in place) and reads the contract that one of them
 * names; `undefined` in a Pi that no runner started. Throws when it cannot be read: a child without its contract must not work.
 */
export function takeContract(env: NodeJS.ProcessEnv): ChildContract | undefined {
  const file = env[CONTRACT_ENV];
  for (const name of CONTRACT_VARIABLES) delete env[name];
  if (file !== undefined) Reflect.set(globalThis, KEPT, readFileSync(file, 'utf8'));
  const kept: unknown = Reflect.get(globalThis, KEPT);
  if (typeof kept !== 'string') return undefined;
  // Written a moment ago by the runner of the same copy of the bundle.
  const contract: ChildContract = JSON.parse(kept);
  return contract;
}

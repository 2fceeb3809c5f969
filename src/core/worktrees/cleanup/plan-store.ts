/** Plans on disk. One that was changed is none. */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CleanupEntry,
  type CleanupPlan,
  canonicalJson,
  cleanupPlan,
  type ErrorValue,
  lanesError,
  PLAN_MS,
  wordsOf,
} from '../../../protocol/index.ts';
import { errnoOf, makePrivateFolder, readRegular, writeFileAtomic } from '../../files/index.ts';

const PLAN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Milliseconds a plan stays to be looked at after it was refused. */
const STAYS_MS = 24 * 60 * 60_000;

/** @param planId a UUID */
export function makePlan(
  planId: string,
  entries: readonly CleanupEntry[],
  warnings: readonly ErrorValue[],
  now: number,
): CleanupPlan {
  const order = (a: CleanupEntry, b: CleanupEntry) =>
    compare(a.path, b.path) || compare(a.branch ?? '', b.branch ?? '');
  const content = { version: 1 as const, entries: [...entries].sort(order), warnings: [...warnings] };
  return { ...content, planId, createdAt: now, expiresAt: now + PLAN_MS, contentHash: hashOf(content) };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function hashOf({ version, entries, warnings }: Pick<CleanupPlan, 'version' | 'entries' | 'warnings'>): string {
  return createHash('sha256').update(canonicalJson({ version, entries, warnings })).digest('hex');
}

/** Writes it durably, and removes plans that nobody can use any more. */
export async function savePlan(folder: string, plan: CleanupPlan): Promise<string> {
  await makePrivateFolder(folder);
  for (const name of await readdir(folder)) {
    const planId = name.replace(/\.json$/, '');
    if (!PLAN_ID.test(planId)) continue;
    const old = await readPlan(folder, planId).catch(() => undefined);
    if (old && plan.createdAt - old.expiresAt > STAYS_MS) await rm(join(folder, name), { force: true });
  }
  const path = join(folder, `${plan.planId}.json`);
  await writeFileAtomic(path, `${JSON.stringify(plan, null, 2)}\n`);
  return path;
}

/** Throws `cleanup_refused` when there is none, or another than was written. Whether it has expired is not asked. */
export async function readPlan(folder: string, planId: string): Promise<CleanupPlan> {
  // What is no id must never lead out of the folder.
  if (!PLAN_ID.test(planId)) throw lanesError('cleanup_refused:missing', { planId });
  let reason: string;
  try {
    const plan = cleanupPlan.parse(JSON.parse(await readRegular(join(folder, `${planId}.json`))));
    if (plan.planId === planId && hashOf(plan) === plan.contentHash) return plan;
    reason = 'its content has changed';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw lanesError('cleanup_refused:missing', { planId });
    reason = wordsOf(error);
  }
  throw lanesError('cleanup_refused:damaged', { planId, reason });
}

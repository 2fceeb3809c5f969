/** What a plan's decision about one worktree rests on, asked of ledger, git and disk at one moment. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { CleanupConditions, Eligibility, LedgerEntry } from '../../../protocol/index.ts';
import { readRegular } from '../../files/index.ts';
import type { Git, RegisteredWorktree } from '../../git/index.ts';
import { gitFolderOf } from '../identity.ts';
import { keptRef } from '../keep.ts';

/** @param registered what git has at its path now */
export async function conditionsOf(
  git: Git,
  entry: LedgerEntry,
  registered: RegisteredWorktree | undefined,
  eligibility: Eligibility | null,
): Promise<CleanupConditions> {
  const { path, branch, repository } = entry.plan;
  const refs = [`refs/heads/${branch}`, keptRef(entry.plan)];
  const [branchTip, keptCommit] = await Promise.all(
    refs.map((ref) => git.lineIfAny(repository, ['rev-parse', '--verify', '--quiet', ref])),
  );
  return {
    state: entry.state,
    registered: registered?.branch ?? (registered ? 'no branch' : null),
    head: registered?.head ?? null,
    branchTip: branchTip ?? null,
    gitFolder: await gitFolderOf(path, repository).catch(() => null),
    capture: 'capture' in entry ? await captureMark(entry.capture) : null,
    keptCommit: keptCommit ?? null,
    eligibility: eligibility?.state ?? null,
    users: entry.users.map(({ runId, child }) => `${runId}/${child}`).join(' '),
  };
}

/** Which capture it is, and that it says what it has said. */
async function captureMark(folder: string): Promise<string> {
  const said = await readRegular(join(folder, 'capture.json')).catch(() => '');
  return `${folder} ${createHash('sha256').update(said).digest('hex').slice(0, 16)}`;
}

const WORDS: Readonly<Record<keyof CleanupConditions, string>> = {
  state: 'its state',
  registered: 'what git has checked out there',
  head: 'HEAD',
  branchTip: 'the tip of its branch',
  gitFolder: 'its git folder',
  capture: 'what was kept of it',
  keptCommit: 'the commit that keeps it',
  users: 'who uses it',
  eligibility: 'what was attested',
};

/** What is not as it was, in words; empty: all is. */
export function changesOf(before: CleanupConditions, now: CleanupConditions): string[] {
  const names: (keyof CleanupConditions)[] = [
    'state',
    'registered',
    'head',
    'branchTip',
    'gitFolder',
    'capture',
    'keptCommit',
    'users',
    'eligibility',
  ];
  return names
    .filter((name) => before[name] !== now[name])
    .map((name) => `${WORDS[name]} was ${before[name] ?? 'not there'}, and is ${now[name] ?? 'not there'}`);
}

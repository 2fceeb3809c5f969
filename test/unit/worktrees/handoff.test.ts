/** The manifest of what a run hands over, and what is attested about it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  eligibilityOf,
  type HandoffSource,
  type LaneSubject,
  makeHandoff,
  manifestDigest,
  readEvidence,
  readHandoff,
  updateEvidence,
  withMerge,
  withSupersession,
  writeHandoff,
} from '../../../src/core/worktrees/index.ts';
import {
  type HandoffManifest,
  type LaneEvidence,
  type LaneMerge,
  laneMerge,
  laneSupersession,
  type WorktreeCapture,
} from '../../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../../support/temp.ts';

const RUN = '01890a5d-ac96-774b-bcce-b302099a8057';
const OTHER = '01890a5d-ac96-774b-bcce-b302099a8058';
const BASE = 'a'.repeat(40);

const capture: WorktreeCapture = {
  version: 1,
  base: BASE,
  tree: 'b'.repeat(40),
  changed: true,
  kept: { ref: `refs/pi-lanes/kept/${RUN}/1`, commit: 'c'.repeat(40) },
  commits: 2,
  tips: [],
  patch: { path: 'changes.patch', bytes: 10, digest: 'd', files: 1, insertions: 2, deletions: 3 },
  outside: { files: 1, bytes: 5, listed: [] },
  disposable: { files: 0, listed: [] },
  blockers: [],
};

function source(child: number, extra: Partial<HandoffSource> = {}): HandoffSource {
  const plan = {
    version: 1,
    runId: RUN,
    child,
    repository: '/r/.git',
    root: '/r',
    path: `/r.worktrees/${child}`,
    folder: `/r.worktrees/${child}`,
    branch: `pi-lanes/${child}`,
    base: BASE,
  } as const;
  return { plan, agent: 'worker', key: `k${child}`, status: 'complete', ...extra };
}

const make = (sources: HandoffSource[], before?: HandoffManifest, now = 5) =>
  makeHandoff({ runId: RUN, mode: 'workflow', cwd: '/r' }, sources, now, before);

const merge: LaneMerge = {
  prNumber: 7,
  reviewedHead: 'e'.repeat(40),
  mergeCommit: 'f'.repeat(40),
  treeEquivalent: true,
  postMergeChecks: 'recorded',
  attestedBy: 'me',
  attestedAt: '2026-01-31T12:00:00Z',
};
const supersession = { supersededBy: OTHER, attestedBy: 'me', attestedAt: '2026-01-31T12:00:00Z' };

function subject(extra: Partial<LaneSubject> = {}): LaneSubject {
  return { laneId: RUN, manifest: make([source(1)]), active: false, ...extra };
}

const refusal = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
};
const refused = (text: string) => expect.objectContaining({ message: expect.stringMatching(text) });

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

describe('the manifest', () => {
  it('has the children by base, with what was kept of each and where it is', () => {
    const kept = { capture, folder: 'children/1/worktree/capture-1' };
    const other = source(3);
    const manifest = make([
      source(2),
      { ...other, plan: { ...other.plan, base: 'f'.repeat(40) } },
      source(1, { kept }),
    ]);
    expect(manifest.groups.map(({ base, children }) => [base, children.map(({ child }) => child)])).toEqual([
      [BASE, [1, 2]],
      ['f'.repeat(40), [3]],
    ]);
    const [first, second] = manifest.groups[0]?.children ?? [];
    expect(first).toMatchObject({
      changed: true,
      commits: 2,
      kept: capture.kept,
      outside: { files: 1, bytes: 5 },
      patch: { path: join('children/1/worktree/capture-1', 'changes.patch'), files: 1 },
      cleanup: { worktreeRemoved: false, branchRemoved: false },
    });
    expect(second).toMatchObject({ changed: null });
    expect(second).not.toHaveProperty('patch');
  });

  it('run-133 is refused for another run, and when it names something twice', async () => {
    const path = join(folder.path, 'handoff.json');
    expect(await readHandoff(path, RUN)).toBeUndefined();
    const manifest = make([source(1), source(2)]);
    await writeHandoff(path, manifest);
    expect(await readHandoff(path, RUN)).toEqual(manifest);
    await expect(readHandoff(path, OTHER)).rejects.toMatchObject({ code: 'handoff_invalid' });

    const [one, two] = [source(1), source(2)];
    const twice: HandoffSource[][] = [
      [one, { ...two, plan: { ...two.plan, child: 1 } }],
      [one, { ...two, key: 'k1' }],
      [one, { ...two, plan: { ...two.plan, path: one.plan.path } }],
    ];
    for (const sources of twice) expect(refusal(() => make(sources))).toEqual(refused('twice'));
    await writeFile(path, JSON.stringify({ ...manifest, groups: [...manifest.groups, ...manifest.groups] }));
    await expect(readHandoff(path, RUN)).rejects.toThrow('two groups');
    await writeFile(path, '{"version":1');
    await expect(readHandoff(path, RUN)).rejects.toMatchObject({ code: 'handoff_invalid' });
  });

  it('run-139 a lane whose key is not that of the child is refused', () => {
    const lane = { version: 1, key: 'k2' } as const;
    expect(refusal(() => make([source(1, { lane })]))).toEqual(refused('the lane "k2"'));
    expect(make([source(2, { lane })]).groups[0]?.children[0]?.lane).toEqual(lane);
  });

  it('keeps when it was first written, and says when it was last', () => {
    const first = make([source(1)]);
    expect(make([source(1)], first, 9)).toMatchObject({ createdAt: 5, updatedAt: 9 });
  });
});

describe('evidence', () => {
  it('run-140 a merge is recorded once; other evidence and another head are refused', () => {
    const first = withMerge(undefined, subject(), merge);
    expect(withMerge(first, subject(), { ...merge })).toBe(first);
    const head = { ...merge, reviewedHead: '1'.repeat(40) };
    expect(refusal(() => withMerge(first, subject(), head))).toEqual(refused('was reviewed at'));
    const other = { ...merge, prNumber: 8 };
    expect(refusal(() => withMerge(first, subject(), other))).toEqual(refused('Other evidence'));
  });

  it('run-140 nothing is recorded while a child is active, for another lane, or for a run without worktrees', () => {
    for (const record of [
      (of: LaneSubject) => withMerge(undefined, of, merge),
      (of: LaneSubject) => withSupersession(undefined, of, supersession),
    ]) {
      expect(refusal(() => record(subject({ active: true })))).toEqual(refused('not all of its children'));
      expect(refusal(() => record(subject({ laneId: OTHER })))).toEqual(refused('was named'));
      expect(refusal(() => record(subject({ manifest: make([]) })))).toEqual(refused('no worktree'));
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['a short hash', { mergeCommit: 'f'.repeat(39) }],
    ['a hash that is none', { reviewedHead: 'g'.repeat(40) }],
    ['no number', { prNumber: 0 }],
    ['half a number', { prNumber: 1.5 }],
    ['nobody', { attestedBy: '  ' }],
    ['a long name', { attestedBy: 'ü'.repeat(65) }],
    ['two lines', { attestedBy: 'a\nb' }],
    ['no time', { attestedAt: 'yesterday-ish' }],
    ['an unknown word', { treeEquivalent: 'maybe' }],
    ['an unknown field', { more: 1 }],
  ])('run-140 %s is refused', (_, wrong) => {
    expect(laneMerge.safeParse({ ...merge, ...wrong }).success).toBe(false);
  });

  it('hashes are kept in lower case, texts without what surrounds them', () => {
    const parsed = laneMerge.parse({ ...merge, mergeCommit: 'F'.repeat(40), attestedBy: ' me ' });
    expect(parsed).toEqual(merge);
  });

  it('run-142 a run is not superseded by itself; a supersession and a merge take the place of each other', () => {
    const itself = { ...supersession, supersededBy: RUN };
    expect(refusal(() => withSupersession(undefined, subject(), itself))).toEqual(refused('by itself'));
    const merged = withMerge(undefined, subject(), merge);
    const superseded = withSupersession(merged, subject(), supersession);
    expect(superseded).not.toHaveProperty('merge');
    expect(withSupersession(superseded, subject(), { ...supersession })).toBe(superseded);
    const by = { ...supersession, supersededBy: 'else' };
    expect(refusal(() => withSupersession(superseded, subject(), by))).toEqual(refused('Other evidence'));
    expect(withMerge(superseded, subject(), merge)).toEqual(merged);
    expect(laneSupersession.safeParse({ ...supersession, supersededBy: '' }).success).toBe(false);
  });

  it('run-141 what changes in the manifest makes it stale, but not its times; then it can be recorded anew', () => {
    const before = withMerge(undefined, subject(), merge);
    const touched = subject({ manifest: { ...subject().manifest, updatedAt: 99 } });
    expect(eligibilityOf(touched, before).state).toBe('terminal-eligible');
    const kept = { capture, folder: 'x' };
    const changed = subject({ manifest: make([source(1, { kept })]) });
    expect(eligibilityOf(changed, before)).toEqual({
      state: 'terminal-blocked',
      reason: expect.stringContaining('stale'),
    });
    const anew = withMerge(before, changed, { ...merge, reviewedHead: '2'.repeat(40) });
    expect(anew.manifestDigest).toBe(manifestDigest(changed.manifest));
    expect(eligibilityOf(changed, anew).state).toBe('terminal-eligible');
  });

  it('each state of eligibility, with its reason', () => {
    const state = (of: LaneSubject | undefined | null, evidence?: LaneEvidence | null) => {
      const { state: name, reason } = eligibilityOf(of, evidence);
      return [name, reason];
    };
    const told = (text: string) => expect.stringContaining(text);
    const blocked = (wrong: Partial<LaneMerge>) => withMerge(undefined, subject(), { ...merge, ...wrong });
    expect(state(undefined)).toEqual(['unknown', told('handed over no worktrees')]);
    expect(state(null)).toEqual(['unknown', told('manifest of its worktrees cannot be read')]);
    expect(state(subject(), null)).toEqual(['unknown', told('cannot be read')]);
    expect(state(subject({ active: true }), blocked({}))).toEqual(['active', told('not all')]);
    expect(state(subject())).toEqual(['terminal-blocked', told('no evidence')]);
    expect(state(subject(), blocked({ treeEquivalent: 'unknown' }))).toEqual([
      'terminal-blocked',
      told('not attested'),
    ]);
    expect(state(subject(), blocked({ treeEquivalent: false }))).toEqual([
      'terminal-blocked',
      told('not the reviewed'),
    ]);
    expect(state(subject(), blocked({ postMergeChecks: 'unknown' }))).toEqual(['terminal-blocked', told('checks')]);
    expect(state(subject(), blocked({}))).toEqual(['terminal-eligible', undefined]);
    const superseded = withSupersession(undefined, subject(), supersession);
    expect(state(subject(), superseded)).toEqual(['superseded-eligible', undefined]);
  });
});

describe('evidence on disk', () => {
  it('is written once for what is the same, and never over what cannot be read', async () => {
    const at = join(folder.path, 'run');
    expect(await readEvidence(at)).toBeUndefined();
    const record = () => updateEvidence(at, (before) => withMerge(before, subject(), merge));
    expect(await record()).toMatchObject({ written: true });
    expect(await record()).toMatchObject({ written: false });
    expect(await readEvidence(at)).toMatchObject({ merge });
    await writeFile(join(at, 'evidence.json'), '{');
    await expect(record()).rejects.toMatchObject({ code: 'lane_evidence_unreadable' });
    expect(await readFile(join(at, 'evidence.json'), 'utf8')).toBe('{');
  });

  it('two that record at once do not lose what the other said', async () => {
    const at = join(folder.path, 'run');
    await mkdir(at);
    const tries = [merge, { ...merge, prNumber: 8 }].map((one) =>
      updateEvidence(at, (before) => withMerge(before, subject(), one)),
    );
    const done = await Promise.allSettled(tries);
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

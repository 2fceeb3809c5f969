/** Going on with a run: an ended one as a new run on its session, a lost one as the same run. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  GO_ON,
  interruptRun,
  planLaunch,
  type ResumeRequest,
  RunStore,
  resumeKind,
  resumeRun,
  startRun,
  stopRun,
} from '../../src/client/index.ts';
import { inspectLock } from '../../src/core/locks/index.ts';
import { rootLayout, runLayout } from '../../src/core/projects/index.ts';
import { CONTINUE_PROMPT, readLaunchRecord } from '../../src/core/runs/index.ts';
import { leaseSession } from '../../src/core/sessions/index.ts';
import { type LaunchRecord, type Owner, singleRecord } from '../../src/protocol/index.ts';
import { type FakePi, fakeTask } from '../support/fake-pi/index.ts';
import { expectNobodyLeft, fakeWorld } from '../support/fake-world.ts';
import { piCli } from '../support/pi-versions.ts';
import { PiRpc } from '../support/rpc-client.ts';
import { atGate, ended as endOf, journalOf, ofType, owner, type Started, startWorker } from '../support/started-run.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWorld, type World } from '../support/world.ts';

const somebodyElse: Owner = { kind: 'vscode', id: 'window-2' };

const events = (directory: string) => journalOf({ directory });
const start = (world: World, task: string, cwd: string = world.project) => startWorker(world, task, { cwd });

/** Waits for the end of the run and of its runner, and gives the view. */
async function ended(run: Started) {
  const { child, ...end } = await endOf(run);
  if (!child) throw new Error(`run ${run.runId} cannot be read`);
  return { ...end, child };
}

async function sessionOf(run: Started): Promise<string> {
  const file = (await ended(run)).child.session?.file;
  if (!file) throw new Error('there is no session file');
  return file;
}

/** A new run on the session of an old one. */
async function resume(world: World, from: Started, request: Partial<ResumeRequest> = {}): Promise<Started> {
  const resumed = await resumeRun(world.toolbox, { directory: from.directory, owner, ...request });
  expect(resumed.kind).toBe('resumed');
  expect(resumed.runId).not.toBe(from.runId);
  return { ...resumed, store: from.store };
}

function refusal(world: World, from: Started, request: Partial<ResumeRequest> = {}): Promise<unknown> {
  return resumeRun(world.toolbox, { directory: from.directory, owner, ...request }).then(
    (run) => Promise.reject(new Error(`run ${run.runId} was started`)),
    (error: unknown) => error,
  );
}

/** Digests of all files below a folder, by path. */
async function digests(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found[path] = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  }
  return found;
}

describe('with a fake Pi', () => {
  let fake: FakePi;
  let world: World;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    ({ fake, world } = await fakeWorld(stack));
  });
  beforeEach(() => fake.planLaunches({}));
  afterAll(() => expectNobodyLeft(stack, { fake, world }));

  describe('an ended run', () => {
    test('goes on as a new run with the whole launch contract, and is itself left as it was', async () => {
      const request = { agent: 'worker', task: fakeTask({ steps: [{ say: 'one' }] }), cwd: world.project, owner };
      const plan = await planLaunch(world.toolbox, {
        ...request,
        trust: 'approve',
        model: 'fake/scripted-b:low',
        label: 'Fences',
        output: 'answers/fence.md',
        outputMode: 'file-only',
        timeoutMs: 77_000,
        toolTimeoutMs: 33_000,
        ceiling: { allowedTools: ['read', 'bash'], allowedAgents: ['worker'], denyExtensions: true },
        lane: { version: 1, key: 'fences', mode: 'mutation', claims: ['src/**'] },
        workflowKey: 'fences',
      });
      const { agent } = plan.record.child;
      const contract = {
        ...agent,
        tools: ['read', 'bash'],
        allowNestedSubagents: true,
        fallbackModels: ['fake/scripted'],
        systemPrompt: 'You mend fences.',
        systemPromptMode: 'append' as const,
        inheritSkills: true,
      };
      const contracted = {
        ...plan.record.child,
        agent: contract,
        tools: { list: contract.tools },
        skills: { found: true, paths: [] },
      };
      const record: LaunchRecord = { ...plan.record, child: contracted };
      const launched = await startRun(world.toolbox, { ...plan, record });
      const source = { ...launched, store: new RunStore(launched.project) };
      const session = await sessionOf(source);
      const said = await readFile(session, 'utf8');
      const before = await digests(source.directory);

      const task = fakeTask({ steps: [{ say: '{{users}} {{model}} {{thinking}} {{system}}' }] });
      const next = await resume(world, source, { task, owner: somebodyElse });
      const { snapshot, child, text } = await ended(next);
      expect(snapshot.state).toBe('complete');
      expect(text).toBe('2 fake/scripted-b low You mend fences.');
      expect(child).toMatchObject({ sessionState: 'ok', session: { file: session } });
      expect(snapshot.view).toMatchObject({ resumedFrom: source.runId, owner: somebodyElse, label: 'Fences' });
      const old = singleRecord.parse(await readLaunchRecord(source.directory));
      expect(await readLaunchRecord(next.directory)).toEqual({
        ...old,
        runId: next.runId,
        createdAt: expect.any(Number),
        owner: somebodyElse,
        child: { ...old.child, task },
        resume: { sourceRunId: source.runId, sourceChild: 1, session, how: 'continue' },
      });
      expect(old.child).toMatchObject({ agent: contract, model: 'fake/scripted-b', modelIsExplicit: true });
      const children = await fake.launches('child');
      const args = children.at(-1)?.args ?? [];
      const value = (flag: string) => args[args.indexOf(flag) + 1];
      expect(value('--session')).toBe(session);
      expect(value('--tools')).toBe('read,bash');
      expect(value('--model')).toBe('fake/scripted-b');
      expect(value('--name')).toBe('worker · Fences');
      expect(args).toContain('--approve');
      expect(args).not.toContain('--no-skills');
      expect(await readFile(join(world.project, 'answers', 'fence.md'), 'utf8')).toBe(text);

      // Only the conversation, which both share, has grown.
      const after = await digests(source.directory);
      expect({ ...after, [session]: '' }).toEqual({ ...before, [session]: '' });
      expect((await readFile(session, 'utf8')).startsWith(said)).toBe(true);
      expect(await readdir(join(next.directory, 'children', '1', 'session'))).toEqual([]);
    });

    test('goes on by default with one fixed sentence, from the command line', async () => {
      const source = await start(world, fakeTask({ steps: [{ say: 'one' }] }));
      await ended(source);
      expect(await resumeKind(source.directory)).toBe('resume');
      const { code, stdout } = await world.cli(['resume', '--json', source.runId]);
      expect(code).toBe(0);
      const resumed = JSON.parse(stdout);
      expect(resumed).toMatchObject({ schemaVersion: 1, kind: 'resumed' });
      const { snapshot, text } = await ended({ ...resumed, store: source.store });
      expect(snapshot.state).toBe('complete');
      expect(text).toBe(`You said: ${GO_ON}`);
    });

    test('that failed goes on, and so does what went on', async () => {
      const source = await start(world, fakeTask({ steps: [{ error: '400 no' }] }));
      expect((await ended(source)).snapshot.state).toBe('failed');
      const second = await resume(world, source, { task: 'second' });
      expect((await ended(second)).text).toBe('You said: second');
      const third = await resume(world, second, { task: fakeTask({ steps: [{ say: '{{users}}' }] }) });
      expect((await ended(third)).text).toBe('3');
      expect(await sessionOf(third)).toBe(await sessionOf(source));
    });

    test('that was interrupted is paused, and goes on', async () => {
      const source = await start(world, fakeTask({ steps: [{ say: ['half of ', { gate: 'never' }, 'it'] }] }));
      await atGate(fake, source, 'never');
      expect(await interruptRun(world.toolbox, source.directory, owner)).toEqual({ outcome: 'done' });
      const { snapshot, text: half } = await ended(source);
      expect(snapshot).toMatchObject({ state: 'paused', error: null });
      expect(half).toBe('half of ');
      const next = await resume(world, source, { task: fakeTask({ steps: [{ say: 'whole {{users}}' }] }) });
      expect((await ended(next)).text).toBe('whole 2');
    });
  });

  test('one that is lost goes on as it was launched: nothing that is asked for beside that is dropped without a word', async () => {
    const folder = join(world.project, 'goes-away');
    await mkdir(folder);
    const source = await start(world, fakeTask({ steps: [{ gate: 'lost-with-wishes' }, { say: 'done' }] }), folder);
    await atGate(fake, source, 'lost-with-wishes');
    const { owner: holder } = await inspectLock(runLayout(source.directory).lease);
    process.kill(holder?.process.pid ?? 0, 'SIGKILL');
    await waitFor('it to be lost', async () => (await source.store.read(source.runId)).state === 'lost');
    const before = await events(source.directory);
    for (const wish of [{ task: 'remember me' }, { fork: true }, { fork: true, cwd: world.project }]) {
      expect(await refusal(world, source, wish)).toMatchObject({
        code: 'resume_refused',
        hint: expect.stringContaining('steer'),
      });
    }
    await rename(folder, `${folder}-for-now`);
    expect(await refusal(world, source)).toMatchObject({ code: 'cwd_gone', message: expect.stringContaining(folder) });
    expect(await events(source.directory)).toEqual(before);
    await rename(`${folder}-for-now`, folder);
    expect((await resumeRun(world.toolbox, { directory: source.directory, owner })).kind).toBe('continued');
    await fake.open('lost-with-wishes');
    expect((await ended(source)).snapshot.state).toBe('complete');
  });

  test('one that was interrupted before its agent had begun begins again with its own task, and with what is said then behind it', async () => {
    await fake.planLaunches({ launches: [{ start: [{ gate: 'too-early' }] }, {}] });
    const task = fakeTask({ steps: [{ say: 'begun after all' }] });
    const source = await start(world, task);
    await fake.arrivedAt('too-early');
    expect(await interruptRun(world.toolbox, source.directory, owner)).toEqual({ outcome: 'done' });
    expect((await ended(source)).snapshot).toMatchObject({ state: 'paused', error: null });
    const next = await resume(world, source);
    const begun = await ended(next);
    expect(begun.snapshot.error).toBeNull();
    expect(begun).toMatchObject({ snapshot: { state: 'complete' }, text: 'begun after all' });
    const other = await resume(world, source, { task: 'something else' });
    expect((await ended(other)).text).toBe('begun after all');
    const told = await readLaunchRecord(other.directory);
    expect(told).toMatchObject({ child: { task: `${task}\n\nsomething else` } });
    // It has a session like any other run, and can be resumed by it.
    const third = await resume(world, next, { task: fakeTask({ steps: [{ say: '{{users}}' }] }) });
    expect((await ended(third)).text).toBe('2');
    const last = fakeTask({ steps: [{ say: 'users: {{users}}' }] });
    const waited = await world.cli(['resume', third.runId, '--task', last, '--wait']);
    expect([waited.code, waited.stdout]).toEqual([0, 'users: 3\n']);
    expect(waited.stderr).toContain('Ctrl+C stops waiting, not the run.');
  });

  test.each(['SIGKILL', 'SIGSEGV', 'SIGTERM'] as const)(
    'one whose Pi was ended by %s from outside is stopped, and goes on with its session: nobody stopped it',
    async (signal) => {
      const source = await start(world, fakeTask({ steps: [{ say: 'half' }, { kill: signal }] }));
      const { snapshot } = await ended(source);
      expect(snapshot).toMatchObject({
        state: 'stopped',
        error: { code: 'child_exited' },
        view: { stopRequested: false },
      });
      expect(snapshot.error?.message).toContain(signal);
      expect(await resumeKind(source.directory)).toBe('resume');
      const next = await resume(world, source, { task: fakeTask({ steps: [{ say: 'whole {{users}}' }] }) });
      expect(await ended(next)).toMatchObject({ snapshot: { state: 'complete' }, text: 'whole 2' });
      expect(await sessionOf(next)).toBe(await sessionOf(source));
    },
  );

  describe('is refused', () => {
    const refused = (reason: string, hint?: string) => ({
      code: 'resume_refused',
      message: `The run cannot be resumed: ${reason}.`,
      ...(hint === undefined ? {} : { hint }),
    });

    test('while the run works or waits, and after it was stopped', async () => {
      const steps = [{ gate: 'at-work' }, { dialog: 'confirm' as const, title: 'Really?' }, { say: 'done' }];
      const source = await start(world, fakeTask({ steps }));
      await atGate(fake, source, 'at-work');
      expect(await refusal(world, source)).toMatchObject(refused('it is running', 'Steer it instead.'));
      await fake.open('at-work');
      await waitFor('the question', async () => (await source.store.read(source.runId)).state === 'waiting');
      expect(await refusal(world, source)).toMatchObject(refused('it is waiting', 'Answer its question instead.'));
      await stopRun(world.toolbox, source.directory, owner);
      await ended(source);
      const stopped = refused('it was stopped', 'Start a new run with the same task.');
      expect(await refusal(world, source)).toMatchObject(stopped);
      expect(await refusal(world, source, { fork: true })).toMatchObject(stopped);
    });

    test('without a session, and with one that is not a .jsonl file', async () => {
      await fake.planLaunches({ state: { sessionFile: null } });
      const none = await start(world, fakeTask({ steps: [{ say: 'one' }] }));
      expect((await ended(none)).child.sessionState).toBe('none');
      expect(await refusal(world, none)).toMatchObject(refused('it has no persisted session file'));
      const file = join(world.project, 'session.txt');
      await writeFile(file, '{}\n');
      await fake.planLaunches({ state: { sessionFile: file } });
      const text = await start(world, fakeTask({ steps: [{ say: 'one' }] }));
      await ended(text);
      expect(await refusal(world, text)).toMatchObject(refused(`${file} is not a .jsonl file`));
    });

    test('when the session file is missing, a link or a folder', async () => {
      const source = await start(world, fakeTask({ steps: [{ say: 'one' }] }));
      const session = await sessionOf(source);
      const good = await readFile(session);
      await rm(session);
      const missing = refused(`${session} does not exist`, 'Its transcript is still there.');
      expect(await refusal(world, source)).toMatchObject(missing);
      expect(await refusal(world, source, { fork: true })).toMatchObject(missing);
      await mkdir(session);
      expect(await refusal(world, source)).toMatchObject(refused(`${session} is not a regular file`));
      await rm(session, { recursive: true });
      await writeFile(`${session}.real`, good);
      await symlink(`${session}.real`, session);
      expect(await refusal(world, source)).toMatchObject(refused(`${session} is not a regular file`));
      await rm(session);
      await writeFile(session, good);
      const next = await resume(world, source, { task: 'back' });
      expect((await ended(next)).text).toBe('You said: back');
    });

    test('B52 when the session file has lost its header', async () => {
      const source = await start(world, fakeTask({ session: 'headerless', steps: [{ say: 'one' }] }));
      const session = await sessionOf(source);
      const wanted = refused(`${session} has no session header in its first line`, 'Its transcript is still there.');
      expect(await refusal(world, source)).toMatchObject(wanted);
      const { code, stdout } = await world.cli(['resume', '--json', source.runId]);
      expect(code).toBe(2);
      expect(JSON.parse(stdout).error).toMatchObject(wanted);
    });

    test('with an empty task', async () => {
      const source = await start(world, fakeTask({ steps: [{ say: 'one' }] }));
      await ended(source);
      expect(await refusal(world, source, { task: ' \n' })).toMatchObject({ code: 'task_empty' });
    });

    test('leaving nothing behind', async () => {
      const source = await start(world, fakeTask({ session: 'headerless', steps: [{ say: 'one' }] }));
      await ended(source);
      const before = [await source.store.runIds(), await digests(source.directory), await fake.launches()];
      await refusal(world, source);
      expect([await source.store.runIds(), await digests(source.directory), await fake.launches()]).toEqual(before);
    });
  });

  test('a folder that is gone is refused; a fork goes on in the folder that is named, on a copy', async () => {
    const gone = join(world.project, 'gone');
    const other = join(world.project, 'other');
    await mkdir(gone);
    await mkdir(other);
    const source = await start(world, fakeTask({ steps: [{ say: 'one' }] }), gone);
    const session = await sessionOf(source);
    const said = await readFile(session, 'utf8');
    await rm(gone, { recursive: true });
    const wanted = { code: 'cwd_gone', message: `The run cannot be resumed: its folder ${gone} is gone.` };
    expect(await refusal(world, source)).toMatchObject({ ...wanted, hint: expect.stringContaining('fork') });
    // The folder of a session that goes on is its own, whatever is named.
    expect(await refusal(world, source, { cwd: other })).toMatchObject(wanted);
    expect(await refusal(world, source, { fork: true })).toMatchObject(wanted);
    const task = fakeTask({ steps: [{ say: '{{users}} {{cwd}}' }] });
    const { code, stdout } = await world.cli(['resume', source.runId, '--task', task, '--cwd', other]);
    expect(code).toBe(0);
    const next = { runId: stdout.trim(), directory: source.store.directoryOf(stdout.trim()), store: source.store };
    const { snapshot, text, child } = await ended(next);
    expect(snapshot).toMatchObject({ state: 'complete', view: { cwd: other, resumedFrom: source.runId } });
    expect(text).toBe(`2 ${other}`);
    expect((await readLaunchRecord(next.directory)).resume?.how).toBe('fork');
    // Its session is its own, in its own folder; the old one is as it was.
    expect(child.session?.file).toContain(join(next.directory, 'children', '1', 'session'));
    expect(await readFile(session, 'utf8')).toBe(said);
  });

  test('B54 a session in use is refused with its user, and a fork of it works meanwhile', async () => {
    const source = await start(world, fakeTask({ steps: [{ say: 'one' }] }));
    const session = await sessionOf(source);
    const first = await resume(world, source, { task: fakeTask({ steps: [{ gate: 'busy' }, { say: 'two' }] }) });
    await fake.arrivedAt('busy');
    const runner = ofType(await events(first.directory), 'runner.started')[0]?.process.pid;
    const name = session.split('/').at(-1);
    expect(await refusal(world, source)).toMatchObject({
      code: 'session_in_use',
      message: `The session ${name} is in use by run ${first.runId} (process ${runner}).`,
      hint: expect.stringContaining('fork'),
    });
    const task = fakeTask({ steps: [{ say: 'copy {{users}}' }] });
    const copy = await resume(world, source, { task, fork: true });
    const { text, child } = await ended(copy);
    // It was copied in the middle of the second turn, whose prompt stands in the file already.
    expect(text).toBe('copy 3');
    expect(child.session?.file).not.toBe(session);
    await fake.open('busy');
    expect((await ended(first)).text).toBe('two');
    const later = await resume(world, source, { task: fakeTask({ steps: [{ say: 'three {{users}}' }] }) });
    expect((await ended(later)).text).toBe('three 3');
  });

  test('B54 two that resume at the same moment: one goes on, the other starts no child', async () => {
    const source = await start(world, fakeTask({ steps: [{ say: 'one' }] }));
    await ended(source);
    const before = (await fake.launches('child')).length;
    const task = fakeTask({ steps: [{ gate: 'together' }, { say: 'two' }] });
    const tries = await Promise.allSettled([1, 2].map(() => resume(world, source, { task })));
    await fake.arrivedAt('together');
    // The one that came later was refused at once, or by its own runner.
    const errors = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const runs = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await waitFor('one of them to be refused', async () => {
      for (const run of runs) {
        const { view } = await source.store.read(run.runId);
        if (view?.state === 'failed' && !errors.includes(view.error)) errors.push(view.error);
      }
      return errors.length === 1;
    });
    expect(errors[0]).toMatchObject({ code: 'session_in_use' });
    await fake.open('together');
    const texts = await Promise.all(runs.map(async (run) => (await ended(run)).text));
    expect(texts.filter((text) => text === 'two')).toHaveLength(1);
    expect((await fake.launches('child')).length).toBe(before + 1);
  });

  test('B54 the session of a run is not to be written by others while it works', async () => {
    const source = await start(world, fakeTask({ steps: [{ gate: 'own' }, { say: 'one' }] }));
    await atGate(fake, source, 'own');
    const session = (await source.store.read(source.runId)).view?.children[0]?.session?.file ?? '';
    const locks = rootLayout(world.toolbox.agentDir).sessionLocks;
    await expect(leaseSession(locks, session, 'a test')).rejects.toMatchObject({
      code: 'session_in_use',
      message: expect.stringContaining(`run ${source.runId}`),
    });
    await fake.open('own');
    await ended(source);
    const lease = await leaseSession(locks, session, 'a test');
    expect(await refusal(world, source)).toMatchObject({
      code: 'session_in_use',
      message: expect.stringContaining(`in use by a test (process ${process.pid})`),
    });
    await lease.release();
  });

  test('a lost run is continued as the same run', async () => {
    const steps = [{ say: 'first step', tools: [{ name: 'read', output: 'read it' }] }, { gate: 'lost' }];
    const source = await start(world, fakeTask({ steps }));
    await atGate(fake, source, 'lost');
    const runner = ofType(await events(source.directory), 'runner.started')[0]?.process.pid ?? 0;
    process.kill(runner, 'SIGKILL');
    await waitFor('the run to be lost', async () => (await source.store.read(source.runId)).state === 'lost');
    expect(await resumeKind(source.directory)).toBe('continue');
    const record = await readFile(runLayout(source.directory).record);
    const resumed = await resumeRun(world.toolbox, { directory: source.directory, owner: somebodyElse });
    expect(resumed).toEqual({ kind: 'continued', runId: source.runId, directory: source.directory });
    const { snapshot, text } = await ended(source);
    expect(snapshot).toMatchObject({ state: 'complete', view: { epoch: 2, resumedFrom: null } });
    expect(text).toBe(`You said: ${CONTINUE_PROMPT}`);
    const lines = await events(source.directory);
    expect(ofType(lines, 'recovery.decided')).toMatchObject([{ decision: 'continue' }]);
    expect(ofType(lines, 'run.ended')).toHaveLength(1);
    expect(await readFile(runLayout(source.directory).record)).toEqual(record);
    expect(await source.store.activeIds()).toEqual([]);
  });

  describe('B52 a session file that is deleted during the run', () => {
    test.each([
      ['is not written again', true, 'missing', 'does not exist'],
      ['is written anew without its header', 'recreate', 'damaged', 'has no session header in its first line'],
    ] as const)('and %s is noticed at the end; the transcript is whole', async (_, how, state, reason) => {
      const steps = [
        { say: 'Before it went.', tools: [{ name: 'bash', output: 'still here' }] },
        { deleteSession: how },
        { say: 'After it went.' },
      ];
      const source = await start(world, fakeTask({ steps }, 'Lose the session.'));
      const { snapshot, child, text } = await ended(source);
      expect(snapshot.state).toBe('complete');
      expect(text).toBe('After it went.');
      expect(child.sessionState).toBe(state);
      const session = child.session?.file ?? '';
      const checked = ofType(await events(source.directory), 'child.session.checked');
      expect(checked).toMatchObject([{ state, note: `${session} ${reason}` }]);
      const { stdout } = await world.cli(['transcript', source.runId]);
      for (const part of ['Lose the session.', 'Before it went.', 'still here', 'After it went.'])
        expect(stdout).toContain(part);
      expect(await refusal(world, source)).toMatchObject({
        code: 'resume_refused',
        message: `The run cannot be resumed: ${session} ${reason}.`,
      });
      // What is left of it is evidence and stays.
      if (how === 'recreate') expect(await readFile(session, 'utf8')).toContain('After it went.');
    });
  });
});

describe('with Pi itself', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** What the model was asked with last, as text. */
  function lastAsked(): string {
    return JSON.stringify(world.model.requests.at(-1)?.messages);
  }

  test('the model has the earlier conversation in front of it, with the same system prompt and tools', async () => {
    const source = await start(world, 'SCRIPT:say {"text":"The code word is heron."}\nWhat is the code word?');
    expect((await ended(source)).snapshot.state).toBe('complete');
    const first = world.model.requests.at(-1);
    const next = await resume(world, source, { task: 'SCRIPT:say {"text":"Again: heron."}\nSay it again.' });
    const { snapshot, text, child } = await ended(next);
    expect(snapshot.state).toBe('complete');
    expect(text).toBe('Again: heron.');
    expect(child.sessionState).toBe('ok');
    for (const part of ['What is the code word?', 'The code word is heron.', 'Say it again.'])
      expect(lastAsked()).toContain(part);
    const request = world.model.requests.at(-1);
    expect(request?.model).toBe(first?.model);
    expect(request?.tools).toEqual(first?.tools);
    expect(request?.messages[0]).toEqual(first?.messages[0]);
    expect(await sessionOf(next)).toBe(await sessionOf(source));
    // A fork knows it all too, and leaves the session as it is.
    const said = await readFile(await sessionOf(source), 'utf8');
    const fork = await resume(world, source, { task: 'SCRIPT:say {"text":"Forked."}', fork: true });
    expect((await ended(fork)).text).toBe('Forked.');
    for (const part of ['The code word is heron.', 'Again: heron.']) expect(lastAsked()).toContain(part);
    expect(await readFile(await sessionOf(source), 'utf8')).toBe(said);
  });

  test('a session that a person has gone on with in a terminal is refused while that is open, and goes on afterwards', async () => {
    const source = await start(world, 'SCRIPT:say {"text":"One."}');
    await ended(source);
    const session = await sessionOf(source);
    await using other = new PiRpc({
      cli: await piCli('1.6'),
      cwd: world.project,
      env: world.agent.env,
      args: ['--session', session],
    });
    const task = 'SCRIPT:say {"text":"Three."}';
    // That it is open alone cannot be seen; that it writes can.
    await other.run('SCRIPT:say {"text":"Two, by hand."}');
    if (process.platform === 'linux') {
      const refused = await refusal(world, source, { task });
      expect(refused).toMatchObject({
        code: 'session_in_use',
        message: expect.stringContaining(`process ${other.pid}`),
      });
      const fork = await resume(world, source, { task, fork: true });
      expect((await ended(fork)).text).toBe('Three.');
    }
    await other.stop();
    const next = await resume(world, source, { task });
    expect((await ended(next)).text).toBe('Three.');
    for (const part of ['One.', 'Two, by hand.']) expect(lastAsked()).toContain(part);
  });

  test('an interrupted tool call is no obstacle', async () => {
    const source = await start(world, 'SCRIPT:bash-sleep\nSleep long.');
    await waitFor(
      'the tool to run',
      async () => (await source.store.read(source.runId)).view?.children[0]?.tool === 'bash',
    );
    await interruptRun(world.toolbox, source.directory, owner);
    expect((await ended(source)).snapshot.state).toBe('paused');
    const next = await resume(world, source, { task: 'SCRIPT:say {"text":"Awake."}' });
    expect((await ended(next)).text).toBe('Awake.');
    expect(lastAsked()).toContain('Sleep long.');
  });

  test('B52 a session file that is deleted while Pi works is noticed, and the transcript is whole', async () => {
    const gate = join(world.project, 'go-on');
    const calls = [{ tool: 'bash', args: { command: `until [ -e go-on ]; do sleep 0.05; done; echo went on` } }];
    const steps = JSON.stringify([{ text: 'Looking first. ', calls }, { text: 'Done without a session.' }]);
    const source = await start(world, `SCRIPT:steps ${steps}`);
    await waitFor(
      'the tool to run',
      async () => (await source.store.read(source.runId)).view?.children[0]?.tool === 'bash',
    );
    const session = (await source.store.read(source.runId)).view?.children[0]?.session?.file ?? '';
    expect((await stat(session)).isFile()).toBe(true);
    await rm(session);
    await writeFile(gate, '');
    const { snapshot, child } = await ended(source);
    expect(snapshot.state).toBe('complete');
    expect(child.sessionState).toBe('damaged');
    const { stdout } = await world.cli(['transcript', source.runId]);
    for (const part of ['Looking first.', 'went on', 'Done without a session.']) expect(stdout).toContain(part);
    expect(await refusal(world, source)).toMatchObject({
      code: 'resume_refused',
      message: `The run cannot be resumed: ${session} has no session header in its first line.`,
    });
  });
});

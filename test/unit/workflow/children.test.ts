import { describe, expect, it } from 'vitest';
import { P, play, rows } from './workflow.ts';

describe('keys and reuse', () => {
  it('wf-34 keys: 128 characters are allowed, 129 and a wrong beginning are not', async () => {
    const { value, keys } = await play(
      `const out = {};
       for (const key of ['k'.repeat(129), '-a', '.a', '_a', ' a', 'a b', 'a/b', 'ä', '', 5, null, undefined]) {
         try { runs.run(key, ${P}); out[key] = 'accepted' } catch (e) { out[String(key).slice(0, 8)] = e.message }
       }
       await runs.run('k'.repeat(128), ${P});
       return out`,
    );
    expect(Object.values(value as object)).toHaveLength(12);
    for (const message of Object.values(value as object))
      expect(message).toMatch(/runs\.run.*128 characters.*letter or digit/);
    expect(keys).toEqual(['k'.repeat(128)]);
  });

  it('wf-35 the same key with reordered parameters is one launch', async () => {
    const execution = await play(
      `const a = await runs.run('a', {agent: 'w', task: 't', label: 'l'}); const b = await runs.run('a', {label: 'l', task: 't', agent: 'w'});
       return a.output === b.output && a !== b`,
    );
    expect(execution.value).toBe(true);
    expect(execution.keys).toEqual(['a']);
    expect(rows(execution)).toEqual(['run a started', 'run a completed', 'run a reused']);
  });

  it('wf-35 reuse of a launch that is under way waits for it and observes it', async () => {
    const execution = await play(`runs.run('a', ${P}); return (await runs.run('a', ${P})).output`);
    expect(execution).toMatchObject({ ok: true, value: 'a done' });
    expect(execution.keys).toEqual(['a']);
  });

  it('wf-36 the same key with other parameters is an error that names the key', async () => {
    const { value, keys } = await play(
      `await runs.run('a', {agent: 'w', task: '1'}); try { runs.run('a', {agent: 'w', task: '2'}) } catch (e) { return e.message }`,
    );
    expect(value).toMatch(/'a'.*duplicate key with incompatible launch parameters/);
    expect(keys).toEqual(['a']);
  });

  it('a gate with acceptance false is the same launch as the gate alone', async () => {
    const { keys } = await play(
      `await runs.run('a', {agent: 'w', task: 't', gate: 'npm test'}); await runs.run('a', {agent: 'w', task: 't', gate: 'npm test', acceptance: false})`,
    );
    expect(keys).toEqual(['a']);
  });

  it('wf-37 repeating a failed key repeats the failure and launches nothing', async () => {
    const { value, keys } = await play(
      `const out = []; for (let i = 0; i < 2; i++) { try { await runs.run('a', ${P}) } catch (e) { out.push(e.message) } } return out`,
      { children: { a: { ok: false, output: '', error: 'broken' } } },
    );
    expect(value).toEqual(["Run 'a' failed: broken", "Run 'a' failed: broken"]);
    expect(keys).toEqual(['a']);
  });

  it('wf-38 incompatible duplicates in a batch, or against earlier keys, launch nothing of the batch', async () => {
    const { value, keys } = await play(
      `const out = [];
       try { await runs.all([{key: 'x', agent: 'w', task: '1'}, {key: 'y', ...${P}}, {key: 'x', agent: 'w', task: '2'}]) } catch (e) { out.push(e.message) }
       await runs.run('a', ${P});
       try { await runs.all([{key: 'z', ...${P}}, {key: 'a', agent: 'w', task: 'other'}]) } catch (e) { out.push(e.message) }
       return out`,
    );
    expect(value).toEqual([expect.stringContaining("'x'"), expect.stringContaining("'a'")]);
    expect(keys).toEqual(['a']);
  });

  it('identical duplicates in a batch share one launch', async () => {
    const execution = await play(`return (await runs.all([{key: 'a', ...${P}}, {key: 'a', ...${P}}])).map(r => r.key)`);
    expect(execution.value).toEqual(['a', 'a']);
    expect(execution.keys).toEqual(['a']);
  });

  it('wf-39 host and child keys exclude each other both ways, and host keys cannot be used twice', async () => {
    const { value, keys } = await play(
      `const out = []; const H = {kind: 'command', command: 'true', timeoutMs: 1000};
       await runs.run('a', ${P}); try { runs.host('a', H) } catch (e) { out.push(e.message) }
       await runs.host('h', H); try { runs.run('h', ${P}) } catch (e) { out.push(e.message) }
       try { runs.all([{key: 'h', ...${P}}]) } catch (e) { out.push(e.message) }
       try { runs.host('h', H) } catch (e) { out.push(e.message) }
       return out`,
      {
        host: {
          hostCommand: () => ({ ok: true, state: 'passed', exitCode: 0, stdout: '', stderr: '', outputPath: '/x' }),
        },
      },
    );
    expect(value).toEqual(Array(4).fill(expect.stringContaining('already in use')));
    expect(keys).toEqual(['a']);
  });
});

describe('runs.run and runs.all', () => {
  it('wf-40 a failure rejects with key and error, can be caught, and prefers the error to the output', async () => {
    const { value } = await play(
      `const out = []; for (const k of ['a', 'b']) { try { await runs.run(k, ${P}) } catch (e) { out.push(e.message) } } return out`,
      { children: { a: { ok: false, output: 'said', error: 'the error' }, b: { ok: false, output: 'said' } } },
    );
    expect(value).toEqual(["Run 'a' failed: the error", "Run 'b' failed: said"]);
    const { error } = await play(`const x = 1;\nawait runs.run('a', ${P})`, {
      children: { a: { ok: false, error: 'boom' } },
    });
    expect(error).toMatchObject({ kind: 'script', line: 2, message: expect.stringContaining("Run 'a' failed: boom") });
  });

  it('wf-41 stopped resolves, detached rejects with its kind, interrupted rejects; runs.all collects all of them', async () => {
    const children = {
      s: { ok: false, stopped: true, output: 'so far' },
      d: { ok: false, detached: true, output: 'asked' },
      i: { ok: false, interrupted: true, output: 'mid' },
    };
    const execution = await play(
      `const s = await runs.run('s', ${P}); let d, i;
       try { await runs.run('d', ${P}) } catch (e) { d = [e.message, e.kind] } try { await runs.run('i', ${P}) } catch (e) { i = e.message }
       const all = await runs.all(['s', 'd', 'i'].map(key => ({key, ...${P}})));
       return {s, d, i, all: all.map(r => [r.ok, r.stopped, r.detached, r.interrupted])}`,
      { children },
    );
    expect(execution.value).toMatchObject({
      s: { ok: false, stopped: true, output: 'so far' },
      d: ["Run 'd' detached: asked", 'detached-child'],
      i: "Run 'i' failed: mid",
      all: [
        [false, true, null, null],
        [false, null, true, null],
        [false, null, null, true],
      ],
    });
    expect(rows(execution)).toEqual(expect.arrayContaining(['run s stopped', 'run d detached', 'run i failed']));
    expect((await play(`await runs.run('d', ${P})`, { children })).error?.kind).toBe('detached-child');
  });

  it('wf-42 runs.all keeps the order of the items, waits for all and stops nobody', async () => {
    const execution = await play(
      `return (await runs.all(['a', 'b', 'c'].map(key => ({key, ...${P}})))).map(r => [r.key, r.ok])`,
      {
        children: { a: 'open', b: { ok: false, error: 'no' }, c: 'open' },
        onLaunch: (call, all) => {
          if (call.key !== 'c') return;
          call.settle({ ok: true, output: 'c' });
          setTimeout(() => all[0]?.settle({ ok: true, output: 'a' }), 10);
        },
      },
    );
    expect(execution.value).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
    expect(execution.launched.every(({ signal }) => signal.aborted)).toBe(true);
    expect(rows(execution)).toEqual([
      'run a started',
      'run b started',
      'run c started',
      'run b failed',
      'run c completed',
      'run a completed',
    ]);
  });

  it('wf-43 a launch that throws is a failed element without artifacts', async () => {
    const { value } = await play(`return await runs.all([{key: 'a', ...${P}}])`, {
      children: { a: new Error('no such agent') },
    });
    expect(value).toEqual([
      { key: 'a', ok: false, output: 'no such agent', error: 'no such agent', artifactPaths: [] },
    ]);
  });

  for (const [limit, expected] of [
    [3, 3],
    [undefined, 20],
  ] as const) {
    it(`wf-44 at most ${expected} children run at the same time, first come first served`, async () => {
      let running = 0;
      let most = 0;
      const { keys, ok } = await play(`await runs.all(Array.from({length: 50}, (_, i) => ({key: 'k' + i, ...${P}})))`, {
        ...(limit ? { globalConcurrencyLimit: limit } : {}),
        children: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'open' as const])),
        onLaunch: (call) => {
          running += 1;
          most = Math.max(most, running);
          setTimeout(() => {
            running -= 1;
            call.settle({ ok: true, output: '' });
          }, 1);
        },
      });
      expect(ok).toBe(true);
      expect(most).toBe(expected);
      expect(keys).toEqual(Array.from({ length: 50 }, (_, index) => `k${index}`));
    });
  }

  it('wf-45 reading a batch by key says what to do; everything an array has works', async () => {
    const { value } = await play(
      `const all = await runs.all([{key: 'a', ...${P}}, {key: 'b', ...${P}}]); const out = [];
       for (const attempt of [() => all.a, () => all['b'], () => { const {a} = all }, () => all.output]) { try { attempt(); out.push('read') } catch (e) { out.push(e.message) } }
       const [first, second] = all;
       return {out, array: Array.isArray(all), keys: all.map(r => r.key), at: all.at(-1).key, spread: [...all].length, length: all.length,
         outside: all[7] === undefined, negative: all[-1] === undefined, has: 'a' in all, thenable: all.then === undefined, json: all.toJSON === undefined,
         probes: all['@@iterator'] === undefined && all.$$typeof === undefined && all.nodeType === undefined, first: first.key, second: second.key,
         instance: all instanceof Array, json2: JSON.stringify(all).length > 10, find: all.find(r => r.key === 'b').key}`,
    );
    expect(value).toMatchObject({
      out: Array(4).fill(expect.stringMatching(/ordered array.*index.*destructuring.*map/)),
      array: true,
      keys: ['a', 'b'],
      at: 'b',
      spread: 2,
      length: 2,
      outside: true,
      negative: true,
      has: false,
      thenable: true,
      json: true,
      probes: true,
      first: 'a',
      second: 'b',
      instance: true,
      json2: true,
      find: 'b',
    });
  });

  it('wf-46 sparse, null, no array and bad items launch nothing and name the item', async () => {
    const { value, keys } = await play(
      `const out = []; const good = {key: 'a', ...${P}};
       for (const items of [[good, , good], [good, null], [good, 5], 'text', {length: 1}, [good, {key: '-x', ...${P}}], [good, {key: 'b', tasks: []}]]) {
         try { await runs.all(items); out.push('accepted') } catch (e) { out.push(e.message) } }
       return out`,
    );
    expect(value).toEqual([
      expect.stringMatching(/[Ii]tem 1.*runs\.all|runs\.all.*1/),
      expect.stringMatching(/[Ii]tem 1.*runs\.all/),
      expect.stringMatching(/[Ii]tem 1.*runs\.all/),
      expect.stringContaining('runs.all takes an array'),
      expect.stringContaining('runs.all takes an array'),
      expect.stringMatching(/runs\.all item 1/),
      expect.stringMatching(/runs\.all item 1.*tasks/s),
    ]);
    expect(keys).toEqual([]);
    expect((await play('return await runs.all([])')).value).toEqual([]);
  });

  it('wf-47 results read as text; refs name key and run', async () => {
    const { value } = await play(
      `const a = await runs.run('a', ${P}); const b = await runs.run('b', ${P}); const out = [];
       for (const bad of [() => runs.ref('x'), () => runs.refs({})]) { try { bad() } catch (e) { out.push(e.name) } }
       return {text: String(a), template: \`\${a}\`, plus: 'x' + a, join: [a, a].join('|'), blank: String(b), json: JSON.stringify(b), keys: Object.keys(b),
         ref: runs.ref(a), refs: runs.refs([a, b]), nobody: runs.ref({}), out}`,
      {
        children: {
          a: { ok: true, output: '  said  ', runId: '0123456789ab' },
          b: { ok: true, output: ' ', runId: 'short' },
        },
      },
    );
    expect(value).toEqual({
      text: 'said',
      template: 'said',
      plus: 'xsaid',
      join: 'said|said',
      blank: '[run b; id=short]',
      json: '{"ok":true,"output":" ","runId":"short","key":"b","artifactPaths":[]}',
      keys: ['ok', 'output', 'runId', 'key', 'artifactPaths'],
      ref: '[run a; id=01234567]',
      refs: '[run a; id=01234567]\n[run b; id=short]',
      nobody: '[run unknown; id=unknown]',
      out: ['TypeError', 'TypeError'],
    });
  });

  const badLaunches = [
    '5',
    '[]',
    '"text"',
    '{agent: "w", task: "t", action: undefined}',
    '{agent: "w", tasks: []}',
    '{agent: "w", chain: []}',
    '{agent: "w", parallel: 1}',
    '{agent: "w", concurrency: 1}',
    '{agent: "w", chainDir: "x"}',
    '{agent: "w", workflowScript: "x"}',
    '{agent: "w", globalConcurrencyLimit: 1}',
    '{agent: "w", maxSubagentSpawnsPerRun: 1}',
    '{agent: "w", clarify: true}',
    '{agent: "w", worktree: "yes"}',
    '{agent: "w", baseRef: "a..b"}',
    '{agent: "w", gate: " "}',
    '{agent: "w", gate: "x", acceptance: "high"}',
    '{agent: "w", lane: {version: 1, key: "other"}}',
    '{agent: "w", lane: {version: 2, key: "a"}}',
    '{agent: "w", extensionBindings: {bad: 1}}',
  ];
  it('wf-48 legacy fields, clarify, bad worktree, gate, lane and bindings are refused before the launch', async () => {
    const { value, keys } = await play(
      `const out = []; for (const make of [${badLaunches.map((params) => `() => (${params})`).join(', ')}]) { try { runs.run('a', make()); out.push('accepted') } catch (e) { out.push(typeof e.message) } } return out`,
    );
    expect(value).toEqual(badLaunches.map(() => 'string'));
    expect(keys).toEqual([]);
  });

  it('wf-49 each caller has its own copy of a result', async () => {
    const { value } = await play(
      `const a = await runs.run('a', ${P}); a.output = 'changed'; a.artifactPaths.push('x'); const b = await runs.run('a', ${P}); return [b.output, b.artifactPaths]`,
    );
    expect(value).toEqual(['a done', []]);
  });

  it('wf-50 promises of launches in runs.all work, with one warning', async () => {
    const execution = await play(
      `const go = () => runs.all([runs.run('a', ${P}), {key: 'b', ...${P}}, runs.run('c', ${P}).then(r => r.output)]); await go(); const [a, b, c] = await go(); return [a.key, b.key, c]`,
    );
    expect(execution.value).toEqual(['a', 'b', 'c done']);
    expect(execution.console).toEqual([{ level: 'warn', text: expect.stringContaining('runs.all') }]);
    const failing = await play(`try { await runs.all([runs.run('a', ${P})]) } catch (e) { return e.message }`, {
      children: { a: new Error('no') },
    });
    expect(failing.value).toBe("Run 'a' failed: no");
  });

  it('wf-51 what a progress callback throws changes nothing', async () => {
    let told = 0;
    const execution = await play(`emit(1); await runs.run('a', ${P}); return 2`, {
      onProgress: () => {
        told += 1;
        throw new Error('mine');
      },
    });
    expect(execution).toMatchObject({ ok: true, value: 2 });
    expect(told).toBeGreaterThan(1);
  });

  it('a result that must be recovered resolves, and lets only reviews without acceptance follow', async () => {
    const execution = await play(
      `const a = await runs.run('a', ${P}); const out = [a.ok, a.recovery.reason];
       for (const ask of [() => runs.run('b', ${P}), () => runs.steer('a', 'm'), () => runs.host('h', {kind: 'command', command: 'c', timeoutMs: 1}), () => state.set('k', 1)]) {
         try { await ask(); out.push('accepted') } catch (e) { out.push(e.message) } }
       out.push((await runs.run('review', {agent: 'reviewer', task: 't', acceptance: false})).ok); return out`,
      {
        children: { a: { ok: true, output: 'x', recovery: { status: 'recoverable', reason: 'no report' } } },
        state: { get: () => 1, set: () => {} },
        host: { steer: () => ({ state: 'delivered' }), hostCommand: () => ({ ok: true, state: 'passed' }) },
      },
    );
    expect(execution.value).toEqual([false, 'no report', ...Array(4).fill(expect.stringContaining("'a'")), true]);
    expect(execution.keys).toEqual(['a', 'review']);
  });

  it('H3 a stored launch that fails before it is awaited can be caught there', async () => {
    const { value } = await play(
      `const p = runs.run('a', ${P}); await runs.run('b', ${P}); try { await p } catch (e) { return e.message }`,
      {
        children: { a: new Error('early') },
      },
    );
    expect(value).toBe("Run 'a' failed: early");
  });

  it('wf-15 built-ins that the script replaces change no launch, fingerprint or batch', async () => {
    const { ok, error, keys, launched } = await play(
      `JSON.stringify = () => '"x"'; JSON.parse = () => { throw new Error('x') }; Array.prototype.map = () => []; Array.prototype.push = () => 0;
       Object.prototype.toJSON = () => 1; Object.keys = () => []; Array.isArray = () => false; String.prototype.trim = () => ''; Map.prototype.get = () => 1;
       Reflect.ownKeys = () => []; Object.getPrototypeOf = () => null; Object.setPrototypeOf = () => 1;
       Array.prototype[Symbol.iterator] = undefined; Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 1; RegExp.prototype.exec = () => null;
       for (let i = 0, names = Object.getOwnPropertyNames(globalThis); i < names.length; i++) { const name = names[i];
         if (!['runs', 'globalThis', 'undefined', 'NaN', 'Infinity'].includes(name)) globalThis[name] = function fake() { return {get() {}, has() { return true }, add() {}, set() {}} } }
       const a = await runs.run('a', {agent: 'w', task: 't', list: [1, {b: 2}]});
       const again = await runs.run('a', {list: [1, {b: 2}], task: 't', agent: 'w'});
       const all = await runs.all([{key: 'b', agent: 'w', task: 'x'}]);
       let clash; try { runs.run('a', {agent: 'w', task: 'other'}) } catch (e) { clash = true }
       return [a.output, again.output, all.length, all[0].output, clash]`,
    );
    expect(error).toBeUndefined();
    expect(ok).toBe(true);
    expect(keys).toEqual(['a', 'b']);
    expect(launched[0]?.params).toEqual({ agent: 'w', task: 't', list: [1, { b: 2 }] });
  });
});

describe('resume', () => {
  const bad = [
    '{resume: "r1"}',
    '{resume: "r1", task: " "}',
    '{resume: " ", task: "t"}',
    '{resume: "r1", task: "t", agent: "w"}',
    '{resume: "r1", task: "t", gate: "x"}',
    '{resume: "r1", task: "t", extensionBindings: {}}',
    '{resume: "previous", task: "t"}',
  ];
  const badReferences = [
    '{}',
    '{workflowRunId: "w", key: "k"}',
    '{workflowRunId: "w", key: "k", latest: false}',
    '{workflowRunId: " ", key: "k", latest: true}',
    '{workflowRunId: "w", key: "-", latest: true}',
    '{workflowRunId: "w", key: "k", latest: true, more: 1}',
  ];

  it('wf-52 a run id is passed on with its task; agent, gate, bindings and blank tasks are refused', async () => {
    const { value, launched } = await play(
      `const out = []; for (const params of [${bad.join(', ')}]) { try { runs.run('x', params); out.push('accepted') } catch { out.push('refused') } }
       await runs.run('a', {resume: 'r1', task: 'go on'}); return out`,
    );
    expect(value).toEqual(bad.map(() => 'refused'));
    expect(launched.map(({ key, params }) => ({ key, params }))).toEqual([
      { key: 'a', params: { resume: 'r1', task: 'go on' } },
    ]);
  });

  it('wf-53 a reference is resolved before the launch; malformed ones and a missing resolver are refused', async () => {
    const asked: unknown[] = [];
    const script = `const out = []; for (const resume of [${badReferences.join(', ')}]) { try { runs.run('x', {resume, task: 't'}); out.push('accepted') } catch { out.push('refused') } }
       out.push((await runs.run('a', {resume: {workflowRunId: 'w', key: 'k', latest: true}, task: 'go on'})).ok); return out`;
    const host = {
      resolveResume: (reference: unknown) => {
        asked.push(reference);
        return 'resolved-run';
      },
    };
    const { value, launched } = await play(script, { host });
    expect(value).toEqual([...badReferences.map(() => 'refused'), true]);
    expect(asked).toEqual([{ workflowRunId: 'w', key: 'k', latest: true }]);
    expect(launched[0]?.params).toEqual({ resume: 'resolved-run', task: 'go on' });
    const missing = await play(script);
    expect(missing.error?.message).toMatch(/Run 'a' failed: .*not available/);
    expect(missing.keys).toEqual([]);
  });

  it('wf-54 lineage: ancestors, then the new id', async () => {
    const { value } = await play(
      `const a = await runs.run('a', ${P}); const b = await runs.run('b', {resume: a.runId, task: 't'}); const c = await runs.run('c', {resume: b.runId, task: 't'});
       const d = await runs.run('d', {resume: 'foreign', task: 't'}); return [a.continuation === undefined, b.continuation, c.continuation, d.continuation]`,
    );
    expect(value).toEqual([
      true,
      { runIds: ['run-a', 'run-b'] },
      { runIds: ['run-a', 'run-b', 'run-c'] },
      { runIds: ['foreign', 'run-d'] },
    ]);
  });

  const aborted = {
    ok: false,
    output: '',
    error: 'This operation was aborted',
    runId: 'r1',
    usage: { input: 0, output: 0, cost: 0 },
  };
  it('wf-55 a child that was aborted before it began is resumed once, and only then', async () => {
    let calls = 0;
    const once = await play(
      `return (await runs.run('a', {agent: 'w', task: 't', label: 'l', phase: 'p', model: 'm'})).output`,
      {
        children: { a: () => (++calls === 1 ? aborted : { ok: true, output: 'done', runId: 'r2' }) },
      },
    );
    expect(once.value).toBe('done');
    expect(once.launched.map(({ params }) => params)).toEqual([
      { agent: 'w', task: 't', label: 'l', phase: 'p', model: 'm' },
      { resume: 'r1', task: 't', label: 'l', phase: 'p' },
    ]);
    expect(once.trace.map(({ state, phase }) => [state, phase])).toEqual([
      ['started', 'p'],
      ['started', 'auto-resume'],
      ['completed', 'p'],
    ]);
    const twice = await play(`await runs.run('a', ${P})`, { children: { a: aborted } });
    expect(twice.keys).toEqual(['a', 'a']);
    expect(twice.ok).toBe(false);
    for (const other of [
      { ...aborted, usage: { input: 1, output: 0, cost: 0 } },
      { ...aborted, runId: undefined },
      { ...aborted, stopped: true },
      { ...aborted, interrupted: true },
      { ...aborted, error: 'aborted otherwise' },
      { ...aborted, lastAssistantMessage: { stopReason: 'stop', text: 'hello' } },
    ]) {
      const { runId, ...rest } = other;
      const result = runId === undefined ? rest : { ...rest, runId };
      expect((await play(`await runs.all([{key: 'a', ...${P}}])`, { children: { a: result } })).keys).toEqual(['a']);
    }
  });

  it('wf-56 a loop goes on from the newest run id', async () => {
    const { launched } = await play(
      `let r = await runs.run('k0', ${P}); for (let i = 1; i < 4; i++) r = await runs.run('k' + i, {resume: r.runId, task: 'more'}); return r.continuation`,
    );
    expect(launched.map(({ params }) => params['resume'])).toEqual([undefined, 'run-k0', 'run-k1', 'run-k2']);
  });
});

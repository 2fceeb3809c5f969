import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ask, assistant, chatReplySchema, post, tool, user } from '../support/chat-client.ts';
import {
  builtInScripts,
  type ScriptedModel,
  script,
  startScriptedModel,
  UNICODE_SAMPLE,
} from '../support/scripted-model/index.ts';

let model: ScriptedModel;

beforeEach(async () => {
  const twice = script({
    summary: 'twice: a script of the test',
    args: z.strictObject({ word: z.string().default('x') }),
    steps: ({ word }) => [{ text: word }, { text: `${word}${word}` }],
  });
  model = await startScriptedModel({ scripts: { twice } });
});

afterEach(() => model.close());

describe('picking script and step', () => {
  it('answers a prompt without a marker with a friendly text', async () => {
    expect((await ask(model.url, user('hi'))).text).toContain('scripted model');
  });

  it('counts assistant messages after the newest user message with a marker', async () => {
    const history = [user('SCRIPT:twice word=a'), assistant(), user('and now SCRIPT:twice word=b')];
    expect((await ask(model.url, ...history)).text).toBe('b');
    expect((await ask(model.url, ...history, assistant(), user('steering without a marker'))).text).toBe('bb');
  });

  it('falls back to the friendly text behind the last step', async () => {
    expect((await ask(model.url, user('SCRIPT:hello'), assistant(), user('and?'))).text).toContain('SCRIPT:demo');
  });

  it('reads text out of content parts, and never out of other roles', async () => {
    const parts = [{ type: 'text', text: 'SCRIPT:' }, { type: 'image_url' }, { type: 'text', text: 'twice' }];
    const noise = [{ role: 'system', content: 'SCRIPT:hello' }, assistant('SCRIPT:hello'), tool('SCRIPT:hello')];
    expect((await ask(model.url, user(parts), ...noise)).text).toBe('xx');
  });

  it('answers a compaction request with a summary, not with the scripts it quotes', async () => {
    const system = { role: 'system', content: 'You are a context summarization assistant. …' };
    expect((await ask(model.url, system, user('<conversation>[User]: SCRIPT:edit</conversation>'))).text).toContain(
      '## Goal',
    );
  });

  it.each([
    ['SCRIPT:nope', 'unknown script "nope"'],
    ['SCRIPT:huge byte=3', 'byte'],
    ['SCRIPT:say {"text":1}', 'text'],
    ['SCRIPT:steps [{"txt":"a"}]', 'txt'],
    ['SCRIPT:say {', 'not closed'],
  ])('says what is wrong with %s', async (prompt, words) => {
    const response = await post(model.url, [user(prompt)]);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(words.replaceAll('"', '\\"'));
  });

  it('says what is wrong with a body that is no chat request', async () => {
    expect((await post(model.url, [], { body: { messages: 'x' } })).status).toBe(400);
    const response = await fetch(`${model.url}/v1/chat/completions`, { method: 'POST', body: 'no JSON' });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('not JSON')]);
    expect((await fetch(`${model.url}/nothing`)).status).toBe(404);
  });
});

describe('answers', () => {
  it('streams thinking before text, with usage in the last chunk', async () => {
    expect(await ask(model.url, user('SCRIPT:think'))).toMatchObject({
      thinking: 'First I think about it. ',
      text: 'Then I answer.',
      finish: 'stop',
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    });
  });

  it('makes parallel calls with ids of their own and arguments in two deltas', async () => {
    const { calls, finish, deltas } = await ask(model.url, user('SCRIPT:parallel-tools count=2'));
    expect(calls.map(({ tool, args }) => ({ tool, args }))).toEqual([
      { tool: 'bash', args: { command: 'echo tool-0' } },
      { tool: 'bash', args: { command: 'echo tool-1' } },
    ]);
    expect(new Set(calls.map((one) => one.id)).size).toBe(2);
    expect(deltas.filter((one) => one.tool_calls)).toHaveLength(4);
    expect(finish).toBe('tool_calls');
  });

  it('computes text from tool results and from later user messages', async () => {
    const prompt = user('SCRIPT:parallel-tools count=2');
    expect((await ask(model.url, prompt, assistant(), tool('one\n'), tool('two'))).text).toBe('one, two');
    const steered = [user('SCRIPT:echo-steer'), assistant(), tool('')];
    expect((await ask(model.url, ...steered, user('left'), user('right'))).text).toBe('steered: left | right');
    expect((await ask(model.url, ...steered)).text).toBe('steered: (nothing)');
  });

  it('plays steps composed in the prompt, tool result and steering filled in', async () => {
    const prompt = `SCRIPT:steps ${JSON.stringify([
      { calls: [{ tool: 'bash', args: { command: 'pwd' } }], thinking: 'where am I' },
      { text: 'in {{tool}}', calls: [{ tool: 'write', args: { path: 'a', content: '{{tool}}/{{later}}' } }] },
    ])}`;
    expect(await ask(model.url, user(prompt))).toMatchObject({
      thinking: 'where am I',
      calls: [{ args: { command: 'pwd' } }],
    });
    expect(await ask(model.url, user(prompt), assistant(), tool('/x\n'), user('hurry $& up'))).toMatchObject({
      text: 'in /x',
      calls: [{ tool: 'write', args: { path: 'a', content: '/x/hurry $& up' } }],
    });
  });

  it('says the given text exactly, also when it looks like a template', async () => {
    expect((await ask(model.url, user('SCRIPT:say {"text":"{{tool}} \\u2028 🦊"}'))).text).toBe('{{tool}} \u2028 🦊');
    expect((await ask(model.url, user('SCRIPT:unicode'))).text).toBe(UNICODE_SAMPLE);
  });

  it('sends a huge text of exactly the given bytes in few pieces, never cutting a character', async () => {
    const huge = await ask(model.url, user('SCRIPT:huge bytes=1000001'));
    expect(huge.text).toHaveLength(1_000_001);
    expect(huge.deltas.length).toBeLessThan(10);
    const text = `x${'🦊'.repeat(200_000)}`;
    const foxes = await ask(model.url, user(`SCRIPT:say ${JSON.stringify({ text })}`));
    expect(foxes.text).toBe(text);
    expect(foxes.deltas.filter((one) => one.content).length).toBeGreaterThan(1);
    expect(foxes.deltas.every((one) => one.content?.isWellFormed() ?? true)).toBe(true);
  });

  it('sends paced text word by word', async () => {
    const started = performance.now();
    const slow = await ask(model.url, user('SCRIPT:slow tokens=10 tokenMs=10'));
    expect(slow.text).toBe(Array.from({ length: 10 }, (_, index) => `word-${index + 1} `).join(''));
    expect(slow.deltas.length).toBeGreaterThanOrEqual(10);
    expect(performance.now() - started).toBeGreaterThan(90);
  });

  it('reports length, empty text and a usage near the context window', async () => {
    expect(await ask(model.url, user('SCRIPT:length'))).toMatchObject({ finish: 'length' });
    expect(await ask(model.url, user('SCRIPT:empty'))).toMatchObject({ text: '', finish: 'stop' });
    expect((await ask(model.url, user('SCRIPT:compact bytes=10 input=99'))).usage?.prompt_tokens).toBe(99);
  });

  it('answers without a stream when asked to', async () => {
    const response = await post(model.url, [user('SCRIPT:edit')], { body: { stream: false } });
    const reply = chatReplySchema.parse(await response.json());
    expect(reply.choices[0]?.message?.tool_calls?.[0]?.function.name).toBe('write');
    expect(reply.choices[0]?.finish_reason).toBe('tool_calls');
    expect(reply.usage?.total_tokens).toBe(110);
  });
});

describe('the library', () => {
  it('describes every script, and plays each of those a prompt can name', async () => {
    for (const [name, one] of Object.entries(builtInScripts)) {
      const named = name !== 'default' && name !== 'summary';
      expect(one.summary).toMatch(named ? new RegExp(`^${name}\\b.*: .`) : /./);
    }
    const needsArgs: Record<string, unknown> = { say: { text: '' }, steps: [] };
    for (const [name, one] of Object.entries(builtInScripts)) {
      expect(one.plan(needsArgs[name] ?? {}), name).toBeInstanceOf(Array);
    }
  });

  it('lists both models', async () => {
    const { data } = z
      .object({ data: z.array(z.object({ id: z.string() })) })
      .parse(await (await fetch(`${model.url}/v1/models`)).json());
    expect(data.map((one) => one.id)).toEqual(['scripted', 'scripted-b']);
  });

  it('takes the port it is given and says when it is in use', async () => {
    await expect(startScriptedModel({ port: model.port })).rejects.toThrow('EADDRINUSE');
    await model.close();
    const again = await startScriptedModel({ port: model.port });
    expect(again.url).toBe(model.url);
    await again.close();
  });
});

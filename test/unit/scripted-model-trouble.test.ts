import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, assistant, type ChatMessage, post, user } from '../support/chat-client.ts';
import { type LoggedRequest, type ScriptedModel, startScriptedModel } from '../support/scripted-model/index.ts';
import { waitFor } from '../support/wait-for.ts';

let model: ScriptedModel;
const logged: LoggedRequest[] = [];

beforeEach(async () => {
  logged.length = 0;
  model = await startScriptedModel({ log: (request) => logged.push(request), keep: 5 });
});

afterEach(() => model.close());

describe('trouble', () => {
  it('fails with status and body, every time', async () => {
    for (const status of [500, 500]) {
      const response = await post(model.url, [user('SCRIPT:fail-500')]);
      expect([response.status, await response.json()]).toMatchObject([status, { error: { type: 'server_error' } }]);
    }
    const raw = await post(model.url, [user('SCRIPT:steps [{"fail":{"status":418,"body":"<html>"}}]')]);
    expect([raw.status, await raw.text()]).toEqual([418, '<html>']);
  });

  it('gives Retry-After with a 429, and answers the same request the next time', async () => {
    const first = await post(model.url, [user('SCRIPT:rate-limit retryAfter=7')]);
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await ask(model.url, user('SCRIPT:rate-limit retryAfter=7'))).text).toBe('recovered after 429');
  });

  it('counts failures per session and conversation', async () => {
    const status = async (session: string, ...messages: ChatMessage[]) =>
      (await post(model.url, messages, { headers: { 'x-session-affinity': session } })).status;
    const prompt = user('SCRIPT:flaky times=2');
    const system = (content: string) => ({ role: 'system', content });
    expect(await status('a', system('at nine'), prompt)).toBe(529);
    expect(await status('b', prompt)).toBe(529);
    expect(await status('a', system('at ten'), prompt)).toBe(529);
    expect(await status('a', prompt)).toBe(200);
    expect(await status('a', prompt, assistant(), prompt)).toBe(529);
    expect(await status('b', prompt)).toBe(529);
    expect(await status('b', prompt)).toBe(200);
  });

  it('cuts the connection after part of the text', async () => {
    const response = await post(model.url, [user('SCRIPT:cut times=1')]);
    const seen: string[] = [];
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) seen.push(decoder.decode(chunk, { stream: true }));
    };
    await expect(read()).rejects.toThrow();
    expect(seen.join('')).toContain('word-20');
    expect(seen.join('')).not.toContain('DONE');
    expect((await ask(model.url, user('SCRIPT:cut times=1'))).text).toContain('word-20');
    expect(logged.map((one) => one.outcome)).toEqual(['cut', 'answered']);
  });

  it('hangs until the client goes away', async () => {
    const client = new AbortController();
    const request = post(model.url, [user('SCRIPT:hang')], { signal: client.signal }).catch(
      (error: Error) => error.name,
    );
    await waitFor('the request', () => model.requests[0]);
    expect(model.requests[0]?.outcome).toBe('open');
    client.abort();
    expect(await request).toBe('AbortError');
    await waitFor('the disconnect', () => logged[0]?.outcome === 'disconnected');
  });

  it('notices when the client leaves a slow stream, and closes with one open', async () => {
    const client = new AbortController();
    const left = await post(model.url, [user('SCRIPT:slow')], { signal: client.signal });
    client.abort();
    await waitFor('the disconnect', () => logged[0]?.outcome === 'disconnected');
    await expect(left.text()).rejects.toThrow();
    const open = await post(model.url, [user('SCRIPT:slow')]);
    await Promise.all([model.close(), expect(open.text()).rejects.toThrow()]);
    await model.close();
  });
});

describe('the log', () => {
  it('keeps what was asked, and whether a key came with it, but not the key', async () => {
    const tools = [{ type: 'function', function: { name: 'read' } }];
    const headers = { authorization: 'Bearer k-12345', 'x-session-affinity': 's1' };
    await (await post(model.url, [user('SCRIPT:hello')], { headers, body: { tools } })).text();
    await ask(model.url, user('hi'));
    const text = await (await fetch(`${model.url}/requests`)).text();
    expect(text).not.toContain('k-12345');
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(model.requests)));
    const [first, second] = model.requests;
    expect(first).toMatchObject({
      index: 0,
      model: 'scripted',
      session: 's1',
      messages: [user('SCRIPT:hello')],
      tools: ['read'],
      authorized: true,
      stream: true,
      script: 'hello',
      step: 0,
      outcome: 'answered',
      status: 200,
    });
    expect(Date.parse(first?.time ?? '')).toBeLessThanOrEqual(Date.now());
    expect(second).toMatchObject({ index: 1, authorized: false, tools: [], script: 'default', session: undefined });
  });

  it('keeps only the newest requests', async () => {
    for (let count = 0; count < 7; count += 1) await ask(model.url, user(`SCRIPT:say {"text":"${count}"}`));
    expect(model.requests.map((one) => one.index)).toEqual([2, 3, 4, 5, 6]);
    expect(logged).toHaveLength(7);
  });
});

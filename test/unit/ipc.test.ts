import { chmod, mkdir, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectSocket, newAddress, RpcPeer } from '../../src/core/ipc/index.ts';
import { LanesError, RPC_VERSION, type RpcParams } from '../../src/protocol/index.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

const posix = process.platform !== 'win32';
let folder: TempDir;

beforeEach(async () => {
  folder = await tempDir();
});

afterEach(() => folder.remove());

describe('a new address', () => {
  it.runIf(posix)('is a socket in a private folder of the session, else of the temp folder', async () => {
    const xdg = await newAddress({ XDG_RUNTIME_DIR: folder.path });
    expect(xdg).toMatch(/\/pi-lanes\/[0-9a-f]{16}\.sock$/);
    expect(xdg.startsWith(folder.path)).toBe(true);
    const temp = await newAddress({}, 'linux', folder.path);
    expect(temp.startsWith(join(folder.path, `pi-lanes-${process.getuid?.()}`, '/'))).toBe(true);
    for (const path of [xdg, temp]) expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
    expect(await newAddress({ XDG_RUNTIME_DIR: folder.path })).not.toBe(xdg);
  });

  it.runIf(posix)('is not in a folder that is not absolute: it would lie wherever one stands', async () => {
    for (const XDG_RUNTIME_DIR of ['run', './run', '../run'])
      expect(await newAddress({ XDG_RUNTIME_DIR }, 'linux', folder.path)).toMatch(
        new RegExp(`^${folder.path}/pi-lanes-\\d+/[0-9a-f]{16}\\.sock$`),
      );
  });

  it('is a pipe on Windows', async () => {
    expect(await newAddress({}, 'win32')).toMatch(/^\\\\\.\\pipe\\pi-lanes-[0-9a-f]{32}$/);
  });

  it.runIf(posix)('has at most 100 bytes, counted as the system counts', async () => {
    const rest = '/pi-lanes/0123456789abcdef.sock'.length;
    const filler = (bytes: number) => 'ü'.repeat(20) + 'x'.repeat(bytes - 40);
    const room = 100 - rest - folder.path.length - 1;
    const fits = join(folder.path, filler(room));
    await mkdir(fits);
    expect(Buffer.byteLength(await newAddress({ XDG_RUNTIME_DIR: fits }))).toBe(100);
    const long = join(folder.path, filler(room + 1));
    await expect(newAddress({ XDG_RUNTIME_DIR: long })).rejects.toMatchObject({
      code: 'socket_path_too_long',
      message: expect.stringMatching(/has 101 bytes; the limit is 100\./),
      hint: expect.stringContaining('XDG_RUNTIME_DIR'),
    });
    await expect(newAddress({}, 'linux', long)).rejects.toMatchObject({ hint: expect.stringContaining('TMPDIR') });
    // Refused before anything is made.
    await expect(stat(long)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.runIf(posix)('is refused in a folder that others can enter', async () => {
    await mkdir(join(folder.path, 'pi-lanes'));
    await chmod(join(folder.path, 'pi-lanes'), 0o755);
    await expect(newAddress({ XDG_RUNTIME_DIR: folder.path })).rejects.toMatchObject({ code: 'socket_folder_unsafe' });
  });
});

describe('a conversation over a socket', () => {
  let server: Server;
  let address: string;
  const peers: RpcPeer[] = [];
  const never = () => new Promise<never>(() => {});
  const stop: RpcParams<'stop'> = { requestId: '0b0d9d2e-3c39-4d3c-9a5e-6f3d0b7f1a55', by: { kind: 'cli', id: 'me' } };
  const quick = { deadlineMs: 10_000 };

  beforeEach(async () => {
    address = await newAddress({ XDG_RUNTIME_DIR: folder.path });
  });

  afterEach(() => {
    for (const peer of peers.splice(0)) peer.close();
    server?.close();
  });

  /** Both ends of a connection; the server's is prepared by `prepare`. */
  async function connected(prepare: (peer: RpcPeer) => void): Promise<{ client: RpcPeer; serving: Promise<RpcPeer> }> {
    const { promise: serving, resolve } = Promise.withResolvers<RpcPeer>();
    server = createServer((socket) => {
      const peer = new RpcPeer(socket);
      peers.push(peer);
      prepare(peer);
      peer.listen();
      resolve(peer);
    });
    await new Promise<void>((done) => server.listen(address, done));
    const client = new RpcPeer(await connectSocket(address, 5_000));
    peers.push(client);
    client.listen();
    return { client, serving };
  }

  it('brings parameters and results across', async () => {
    const { client } = await connected((peer) =>
      peer.handle('stop', ({ requestId, by }) => ({
        outcome: requestId === stop.requestId && by.id === 'ü 漢' ? 'done' : 'too-late',
      })),
    );
    expect(await client.request('stop', { ...stop, by: { kind: 'cli', id: 'ü 漢' } }, quick)).toEqual({
      outcome: 'done',
    });
    expect(await client.request('stop', stop, quick)).toEqual({ outcome: 'too-late' });
  });

  it('carries an error with its code and its hint', async () => {
    const { client } = await connected((peer) => {
      peer.handle('ping', () => {
        throw new LanesError({ code: 'run_not_found', message: 'No such run.', hint: 'Look elsewhere.' });
      });
      peer.handle('proceed', () => {
        throw new TypeError('oops');
      });
    });
    const error: unknown = await client.request('ping', {}, quick).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LanesError);
    expect(error).toMatchObject({ code: 'run_not_found', message: 'No such run.', hint: 'Look elsewhere.' });
    await expect(client.request('proceed', {}, quick)).rejects.toMatchObject({ code: 'internal', message: 'oops' });
  });

  it('refuses parameters and results of another shape, naming the field', async () => {
    const { client } = await connected((peer) => {
      peer.handle('hello', () => ({ version: RPC_VERSION, runnerVersion: 'x', runId: 'not an id' }));
      peer.handle('stop', () => ({ outcome: 'done' }));
    });
    const hello = { token: 't', version: 1, client: { kind: 'x', version: 'y' } };
    await expect(client.request('hello', hello, quick)).rejects.toMatchObject({
      code: 'runner_refused',
      message: expect.stringMatching(/^The result of hello cannot be used: runId: /),
    });
    const broken = { ...stop, by: { ...stop.by, id: '' } };
    await expect(client.request('stop', broken, quick)).rejects.toMatchObject({
      code: 'runner_refused',
      message: expect.stringMatching(/^The parameters of stop cannot be used: by\.id: /),
    });
  });

  it('says so when nobody handles the request', async () => {
    const { client } = await connected(() => undefined);
    await expect(client.request('ping', {}, quick)).rejects.toMatchObject({ code: 'runner_unreachable' });
  });

  it('gives up at the deadline', async () => {
    const { client } = await connected((peer) => peer.handle('ping', never));
    await expect(client.request('ping', {}, { deadlineMs: 30 })).rejects.toMatchObject({
      code: 'runner_unreachable',
      message: 'The runner did not answer: no answer to ping within 30 ms.',
    });
  });

  it('gives up when the other side goes away, and knows that it is closed', async () => {
    const { client, serving } = await connected((peer) => peer.handle('ping', never));
    const waiting = client.request('ping', {}, quick);
    (await serving).close();
    await expect(waiting).rejects.toMatchObject({ code: 'runner_unreachable' });
    await client.closed;
    await expect(client.request('ping', {}, quick)).rejects.toMatchObject({ code: 'runner_unreachable' });
  });

  it('gives up when it is closed from this side', async () => {
    const { client, serving } = await connected((peer) => peer.handle('ping', never));
    const waiting = client.request('ping', {}, quick);
    await serving;
    client.close();
    await expect(waiting).rejects.toMatchObject({ code: 'runner_unreachable' });
    await (await serving).closed;
  });

  it('sends what is written before it finishes', async () => {
    const { client, serving } = await connected((peer) => peer.handle('ping', () => ({ seq: 7 })));
    const answer = client.request('ping', {}, quick);
    expect(await answer).toEqual({ seq: 7 });
    await (await serving).finish();
    await client.closed;
  });

  it('cannot begin where nobody listens', async () => {
    await expect(connectSocket(address, 1_000)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

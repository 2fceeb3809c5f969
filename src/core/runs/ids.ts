import { randomBytes } from 'node:crypto';
import { RUN_ID } from '../../protocol/index.ts';

/** A new UUIDv7 (RFC 9562): 48 bits of milliseconds first, so that names sort by time. */
export function newRunId(now: number = Date.now(), random: Buffer = randomBytes(10)): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(now, 0, 6);
  random.copy(bytes, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Epoch milliseconds at which a run id was made. */
export function runIdTime(runId: string): number {
  return Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16);
}

/** What a child of a run is known by wherever runs are named: it can be gone on with as a run of its own can. */
export function childRunId(runId: string, child: number): string {
  return `${runId}.${child}`;
}

/** The run and the child that an id names; of a run alone its first child. `undefined`: it is no id. */
export function parseChildRunId(id: string): { runId: string; child: number } | undefined {
  const [, runId = '', child = '1'] = /^(.+?)(?:\.([1-9]\d{0,5}))?$/.exec(id.trim()) ?? [];
  return RUN_ID.test(runId) ? { runId, child: Number(child) } : undefined;
}

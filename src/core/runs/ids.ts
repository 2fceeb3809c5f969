import { randomBytes } from 'node:crypto';

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

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RateGate } from '../../src/runner/rate-gate.ts';
import { type TempDir, tempDir } from '../support/temp.ts';

let folder: TempDir;
let file: string;
let now: number;
let gate: RateGate;

beforeEach(async () => {
  folder = await tempDir();
  file = join(folder.path, 'rate-gate.json');
  now = 1_000_000;
  gate = new RateGate(file, () => now);
});
afterEach(() => folder.remove());

async function limited(retryAfterMs: number | null, provider = 'one'): Promise<Record<string, number>> {
  gate.limited({ provider, retryAfterMs });
  await gate.written();
  return JSON.parse(await readFile(file, 'utf8'));
}

describe('the gate of a provider', () => {
  it('is open, without a file, until somebody is refused', async () => {
    await gate.written();
    expect(existsSync(file)).toBe(false);
  });

  it('is closed for as long as the provider wants, and no longer than a minute', async () => {
    expect(await limited(3000)).toEqual({ one: now + 3000 });
    expect(await limited(3_600_000, 'two')).toEqual({ one: now + 3000, two: now + 60_000 });
  });

  it('is closed longer each time where the provider does not say', async () => {
    const waits: number[] = [];
    for (let round = 0; round < 8; round++) {
      const { one = 0 } = await limited(null);
      waits.push(one - now);
      now = one + 10;
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('is not closed longer by those who had asked before it was', async () => {
    const first = await limited(2000);
    now += 500;
    for (let child = 0; child < 20; child++) expect(await limited(null)).toEqual(first);
    now += 1500;
    // The next refusal is the second one, not the twenty-second.
    expect(await limited(null)).toEqual({ one: now + 2000 });
  });

  it('is closed longer by who is told a longer time, never shorter', async () => {
    await limited(2000);
    expect(await limited(5000)).toEqual({ one: now + 5000 });
    expect(await limited(1000)).toEqual({ one: now + 5000 });
  });

  it('forgets what was long ago', async () => {
    await limited(null);
    now += 1000;
    await limited(null);
    now += 2000 + 60_001;
    expect(await limited(null)).toEqual({ one: now + 1000 });
  });
});

/** How long the extension host stands still while the Runs view loads 1,000 runs and one of them streams. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import { newRunId } from '../../src/core/runs/index.ts';
import type { JournalEvent } from '../../src/protocol/index.ts';
import { startLiveRun, userSays, workspaceProject } from '../host/live-run.ts';
import { activeExtension } from '../host/pi-lanes.ts';
import { aRecord, writeRun } from '../unit/builders/run.ts';

const RUNS = 1000;
const MINUTE = 60_000;
const STREAM_MS = 8000;
const EVERY_MS = 20;

suite('the Runs view', () => {
  test('with 1,000 runs is measured', async function () {
    this.timeout(180_000);
    await activeExtension();
    const project = await workspaceProject();
    const plan = aRecord().child;
    await mkdir(dirname(project.runs), { recursive: true });
    const live = await startLiveRun(project, 'Streams');
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const now = Date.now();
    // Written before the look begins: this suite shares its thread with the extension.
    for (let n = 0; n < RUNS; n++) {
      const at = now - (RUNS - n) * MINUTE;
      const record = { runId: newRunId(at), createdAt: at, child: { ...plan, task: `Old work ${n}` } };
      const events: JournalEvent[] = [{ type: 'run.proceeded' }, { type: 'run.ended', state: 'complete', error: null }];
      await writeRun(project.directory, { record, events, at: at + MINUTE });
    }
    delay.enable();
    await vscode.commands.executeCommand('piLanes.runs.focus');
    await vscode.commands.executeCommand('piLanes.openTranscript', { runId: live.runId });
    const until = performance.now() + STREAM_MS;
    for (let n = 0; performance.now() < until; n++) {
      await live.say(userSays(`Line ${n} of what is streamed. `.repeat(20)));
      await live.append([
        {
          type: 'child.progress',
          child: 1,
          phase: 'thinking',
          tool: null,
          turns: n,
          toolCalls: 0,
          usage: { input: n, output: n, cacheRead: 0, cacheWrite: 0, cost: 0 },
        },
      ]);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    delay.disable();
    await live.end('complete');
    const ms = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(1);
    console.log(`BENCH host p99=${ms(delay.percentile(99))} longest=${ms(delay.max)}`);
  });
});

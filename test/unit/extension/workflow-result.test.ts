/** What a workflow came to, as a document. */
import { describe, expect, it, vi } from 'vitest';
import type { RunSnapshot, WorkflowReport } from '../../../src/client/index.ts';
import { foldRun } from '../../../src/core/runs/index.ts';
import { answerDocument } from '../../../src/extension/workflows/answer-document.ts';
import { resultDocument } from '../../../src/extension/workflows/result-document.ts';
import { describeError, type JournalEvent } from '../../../src/protocol/index.ts';
import { oneOfEach } from '../builders/events.ts';
import { ended, lines } from '../builders/run.ts';
import { aWorkflow } from '../builders/workflow.ts';
import { aSnapshot } from './snapshots.ts';

vi.mock('vscode', () => import('./vscode-stand-in.ts'));

const whole: WorkflowReport = {
  directory: '/runs/x',
  value: { state: 'there', value: { a: '<img src=x>' } },
  emits: { state: 'there', value: [1] },
  console: { state: 'there', value: [{ level: 'warn', text: 'careful\u001b[2J' }] },
  trace: { state: 'there', value: [{ operation: 'run', key: 'a', state: 'failed', error: 'a | b\nc' }] },
  receipt: { state: 'there', value: { version: 1 } },
  isFromJournal: false,
};

function snapshotOf(state: RunSnapshot['state'], ...events: JournalEvent[]): RunSnapshot {
  const record = aWorkflow();
  const view = foldRun(record, lines(events));
  return { runId: record.runId, directory: '/runs/x', state, view, error: null, skipped: 0 };
}

describe('the result of a workflow', () => {
  it('has value, emitted values, console, trace and receipt', () => {
    const text = resultDocument(snapshotOf('complete', ended('complete')), whole);
    expect(text).toContain('# harbour.workflow.js: complete');
    expect(text).toContain('## Value\n\n```json\n{\n  "a": "<img src=x>"\n}\n```');
    expect(text).toContain('## Emitted Values\n\n```json\n[\n  1\n]\n```');
    expect(text).toContain('[warn] careful␛[2J');
    expect(text).toMatch(/^\| run +\| a +\| failed +\| +\| +\| a \\\| b c +\|$/m);
    expect(text).toContain('## Receipt\n\n```json\n{\n  "version": 1\n}\n```');
  });

  it.each([
    ['saved', null, '- Result file: /work/report.md\n'],
    ['kept', null, '- Result file: /work/report.md\n'],
    ['failed', 'no rights', '- What the workflow came to could not be written to /work/report.md: no rights.\n'],
  ] as const)('names its file that was %s', (outcome, error, words) => {
    const settled: JournalEvent = { type: 'output.settled', path: '/work/report.md', outcome, bytes: 1, error };
    const view = foldRun(aWorkflow({ output: '/work/report.md' }), lines([settled, ended('complete')]));
    expect(resultDocument({ ...snapshotOf('complete'), view }, whole)).toContain(words);
    const open = foldRun(aWorkflow({ output: '/work/report.md' }), lines([ended('stopped')]));
    expect(resultDocument({ ...snapshotOf('stopped'), view: open }, whole)).toContain('- Result file, not written: ');
  });

  it('lists children and commands with their state and error', () => {
    const planned = oneOfEach['child.planned'];
    const settled = { ...oneOfEach['child.settled'], child: planned.child };
    const error = describeError('workflow_failed', { reason: 'No *luck*' });
    const text = resultDocument(
      snapshotOf(
        'failed',
        planned,
        { ...settled, state: 'failed', error },
        oneOfEach['host.intended'],
        oneOfEach['host.ended'],
        ended('failed'),
      ),
      whole,
    );
    expect(text).toMatch(/^\| survey +\| \w+ +\| failed /m);
    expect(text).toContain('- **survey**: No \\*luck\\*');
    expect(text).toContain('## Commands on This Machine');
  });

  it('leaves out what is empty, and says of each part that is missing or damaged', () => {
    const text = resultDocument(snapshotOf('lost'), {
      ...whole,
      value: { state: 'missing' },
      emits: { state: 'there', value: [] },
      trace: { state: 'damaged', reason: 'Unexpected `end`' },
      receipt: { state: 'missing' },
      isFromJournal: true,
    });
    expect(text).toContain('## Value\n\nNone: the script has not come to its end.');
    expect(text).toContain('read from the journal');
    expect(text).not.toContain('Emitted Values');
    expect(text).toContain('## Trace\n\nDamaged, it cannot be read: Unexpected \\`end\\`');
    expect(text).toContain('## Receipt\n\nNot there');
  });

  it('a text is shown as it is, in a fence that it cannot close, and cut where it is long', () => {
    const text = resultDocument(snapshotOf('complete', ended('complete')), {
      ...whole,
      value: { state: 'there', value: '```\n# not a heading' },
      emits: { state: 'there', value: ['x'.repeat(300_000)] },
    });
    expect(text).toContain('````text\n```\n# not a heading\n````');
    expect(text).toContain('Only the beginning is shown here; all of it is in /runs/x/result.json');
    expect(text.length).toBeLessThan(300_000);
  });

  it('of a run of which nothing can be read names its files', () => {
    const text = resultDocument({ ...snapshotOf('unknown'), view: null }, { ...whole, value: { state: 'missing' } });
    expect(text).toContain('- Files: /runs/x');
  });
});

describe('the result of a run of one agent', () => {
  it('is its answer', () => {
    const snapshot = aSnapshot('complete');
    expect(answerDocument(snapshot, { version: 1, text: 'All is well.', structuredOutput: { ok: true } })).toContain(
      '## Answer\n\n```markdown\nAll is well.\n```\n\n## Structured Answer\n\n```json\n{\n  "ok": true\n}\n```',
    );
    expect(answerDocument(snapshot, undefined)).toContain('## Answer\n\nNot there');
  });
});

/** What a workflow came to, as the text of a file. */
import { describe, expect, it } from 'vitest';
import type { WorkflowResult } from '../../src/core/workflow/index.ts';
import { summaryOf } from '../../src/runner/workflow/summary.ts';

const result = (over: Partial<WorkflowResult>): WorkflowResult => ({
  ok: true,
  trace: [],
  emits: [],
  console: [],
  abortedKeys: [],
  partialChildren: [],
  engine: { steps: 1, fuel: 1, heapBytes: 1 },
  ...over,
});

describe('the text of a workflow', () => {
  it.each([
    ['a text', 'Größe\n', 'Größe\n'],
    ['an empty text', '', ''],
    ['a value', { a: [1] }, '{\n  "a": [\n    1\n  ]\n}'],
    ['nothing', null, 'null'],
    ['a number', 3, '3'],
  ])('that has ended well is what it returned: %s', (_, value, text) => {
    expect(summaryOf(result({ value, emits: [1] }), 'unused')).toBe(text);
  });

  it('that has failed says why, what it emitted, and what became of its children', () => {
    const child = { artifactPaths: [], output: '' };
    const text = summaryOf(
      result({
        ok: false,
        emits: [{ n: 1 }],
        partialChildren: [
          { ...child, key: 'a', ok: true, outputReference: '/work/report.a.md' },
          { ...child, key: 'b', ok: false, error: 'no luck\nat all' },
          { ...child, key: 'c', ok: false, output: 'words' },
        ],
        abortedKeys: ['d'],
      }),
      'The workflow failed: no',
    );
    expect(text).toBe(`The workflow failed: no

Emitted values:

[
  {
    "n": 1
  }
]

Agents:

- a: complete (/work/report.a.md)
- b: failed: no luck
- c: failed: words
- d: not finished
`);
  });

  it('that has failed at once says only why', () => {
    expect(summaryOf(result({ ok: false }), 'no')).toBe('no\n');
  });
});

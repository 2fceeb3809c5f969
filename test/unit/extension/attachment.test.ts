import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  filesText,
  type Problem,
  problemsText,
  selectionText,
  withAttachment,
} from '../../../src/extension/launch/attachment.ts';

const selection = {
  path: 'src/berths.js',
  firstLine: 3,
  lastLine: 7,
  language: 'javascript',
  text: 'const a = 1;\n',
  unsaved: false,
};

describe('a selection', () => {
  it('names file and lines and holds the text', () => {
    expect(selectionText(selection)).toBe(
      'This is about lines 3 to 7 of src/berths.js:\n\n```javascript\nconst a = 1;\n```',
    );
  });

  it('of one line, not saved yet', () => {
    expect(selectionText({ ...selection, lastLine: 3, unsaved: true })).toContain(
      'line 3 of src/berths.js, with changes that are not saved yet:',
    );
  });

  it('cannot end its own fence', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', '``', '````', 'x', '\n', ' ')), (parts) => {
        const text = selectionText({ ...selection, text: parts.join('') });
        const lines = text.split('\n').slice(2);
        const fence = lines[0]?.replace('javascript', '') ?? '';
        expect(lines.at(-1)).toBe(fence);
        expect(lines.slice(1, -1).filter((line) => line.includes(fence))).toEqual([]);
      }),
    );
  });

  it('that is very long is cut, and says so', () => {
    const text = selectionText({ ...selection, text: 'x'.repeat(200_000) });
    expect(text.length).toBeLessThan(61_000);
    expect(text).toContain('Only the first 60000 characters are shown');
  });
});

describe('files', () => {
  it('are named', () => {
    expect(filesText(['a.ts'])).toBe('This is about a.ts');
    expect(filesText(['a.ts', 'b'])).toBe('This is about these files and folders:\n\n- a.ts\n- b');
  });
});

describe('problems', () => {
  const problem = (over: Partial<Problem>): Problem => ({
    path: 'a.ts',
    line: 1,
    column: 2,
    severity: 'error',
    message: 'No.',
    source: 'ts(1)',
    ...over,
  });

  it('are listed with place, severity and source, the most severe first', () => {
    const text = problemsText([
      problem({ severity: 'hint', line: 1, source: '' }),
      problem({ path: 'b.ts', message: 'Two\n  lines.' }),
      problem({ line: 9 }),
    ]);
    expect(text.split('\n').slice(2)).toEqual([
      '- a.ts:9:2: error: No. [ts(1)]',
      '- b.ts:1:2: error: Two lines. [ts(1)]',
      '- a.ts:1:2: hint: No.',
    ]);
  });

  it('are counted beyond a hundred', () => {
    const lines = problemsText(Array.from({ length: 130 }, (_, line) => problem({ line }))).split('\n');
    expect(lines).toHaveLength(2 + 100 + 1);
    expect(lines.at(-1)).toBe('- and 30 more');
  });
});

describe('a task', () => {
  it('comes first, so that it gives the run its title', () => {
    expect(withAttachment('Mend it.\n', { label: 'a', text: 'This is about a' })).toBe('Mend it.\n\nThis is about a');
    expect(withAttachment('Mend it.', undefined)).toBe('Mend it.');
  });
});

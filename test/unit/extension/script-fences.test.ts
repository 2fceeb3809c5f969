import { expect, test } from 'vitest';
import { scriptFences } from '../../../src/extension/editor/script-fences.ts';

test('only fences that say so are scripts, with the line they begin at', () => {
  const markdown = [
    '# Title',
    '```js',
    'emit(undefined);',
    '```',
    '```js workflow',
    'const a = 1;',
    'return a;',
    '```',
    '~~~~javascript workflow title="x"',
    'return `',
    '~~~',
    '`;',
    '~~~~',
    '   ```js workflow',
    'return 2;',
  ];
  for (const end of ['\n', '\r\n']) {
    expect(scriptFences(markdown.join(end))).toEqual([
      { text: 'const a = 1;\nreturn a;', lines: 5 },
      { text: 'return `\n~~~\n`;', lines: 9 },
      { text: 'return 2;', lines: 14 },
    ]);
  }
});

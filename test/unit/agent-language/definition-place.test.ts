/** What stands at a place of a definition: whole, and while it is being typed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeIn } from '../../../src/core/agent-language/index.ts';
import { cut, header, placeAt, shortPlace } from './marked.ts';

describe('the name of a field', () => {
  it.each([
    ['an empty line', header('‸'), 'field:  | name,description'],
    ['one that is begun', header('too‸'), 'field: too | name,description'],
    ['one with a colon', header('too‸ls: read'), 'field: tools | name,description'],
    ['its end', header('tools‸: read'), 'field: tools | name,description'],
    ['one with spaces in front of its colon', header('tools‸ : read'), 'field: tools | name,description'],
    ['a header nobody has closed', '---\nname: a\nde‸', 'field: de | name'],
    ['the first line of a header', '---\n‸\n---\n', 'field:  | '],
    ['lines with CRLF', header('x: y', 'too‸').replaceAll('\n', '\r\n'), 'field: too | name,description,x'],
    ['a line behind a list', header('tools:', '  - read', 'mod‸'), 'field: mod | name,description,tools'],
  ])('%s', (_, marked, expected) => expect(shortPlace(marked)).toBe(expected));
});

describe('a value', () => {
  it.each([
    ['of a text', header('model: anth‸'), 'value model: anth | '],
    ['behind a colon with nothing', header('model: ‸'), 'value model:  | '],
    ['right behind a colon', header('model:‸'), 'value model:  | '],
    ['in quotes', header('model: "an‸th"'), 'value model: anth | '],
    ['in quotes nobody has closed', header('model: "anth‸', 'tools: read'), 'value model: anth | '],
    ['in front of a comment', header('model: an‸th # the best'), 'value model: anth | '],
    ['with a colon in it', header('model: a/b:hi‸'), 'value model: a/b:hi | '],
  ])('%s', (_, marked, expected) => expect(shortPlace(marked)).toBe(expected));

  it('knows when a space is missing', () => {
    expect(placeAt(header('model:‸'))).toMatchObject({ needsSpace: true });
    expect(placeAt(header('model: ‸'))).toMatchObject({ needsSpace: false });
    expect(placeAt(header('tools: read,‸'))).toMatchObject({ needsSpace: false });
  });
});

describe('an item of a list', () => {
  it.each([
    ['between commas', header('tools: read, gr‸ep, ls'), 'value tools: grep | read,ls'],
    ['behind a comma', header('tools: read, ‸'), 'value tools:  | read'],
    ['in front of another', header('tools: ‸, ls'), 'value tools:  | ls'],
    ['in brackets', header('tools: [read, "gr‸ep", ls]'), 'value tools: grep | read,ls'],
    ['in brackets nobody has closed', header('tools: [read, g‸', 'model: x'), 'value tools: g | read'],
    ['in empty brackets', header('tools: [‸]'), 'value tools:  | '],
    ['in brackets over several lines', header('tools: [', '  read,', '  g‸', ']'), 'value tools: g | read'],
    ['behind a dash', header('tools:', '  - read', '  - gr‸', '  - ls'), 'value tools: gr | read,ls'],
    ['behind a dash at the margin', header('tools:', '- read', '- gr‸'), 'value tools: gr | read'],
    ['behind a dash with nothing', header('tools:', '  - read', '  - ‸'), 'value tools:  | read'],
    ['with quotes behind a dash', header('tools:', "  - 'gr‸'", '  - ls'), 'value tools: gr | ls'],
    ['in a line that goes on', header('tools: read,', '  gr‸'), 'value tools: gr | read'],
    ['beside a comment', header('tools:', '  - read # a, b', '  - ‸'), 'value tools:  | read'],
    ['with tabs', header('tools:', '\t- read', '\t- g‸'), 'value tools: g | read'],
  ])('%s', (_, marked, expected) => expect(shortPlace(marked)).toBe(expected));
});

describe('a map', () => {
  it.each([
    ['a key on its own line', header('memory:', '  sc‸'), 'key memory: sc | '],
    ['a key beside another', header('memory:', '  scope: user', '  pa‸th: x'), 'key memory: path | scope'],
    ['an empty line inside', header('memory:', '  scope: user', '  ‸'), 'key memory:  | scope'],
    ['a value on its own line', header('memory:', '  scope: us‸'), 'value memory.scope: us | '],
    ['a key in braces', header('memory: {scope: user, pa‸}'), 'key memory: pa | scope'],
    ['a value in braces', header('memory: { scope: us‸, path: x }'), 'value memory.scope: us | '],
    ['braces nobody has closed', header('memory: {scope: ‸', 'model: x'), 'value memory.scope:  | '],
    [
      'JSON',
      header('toolBudget: {"soft": 2, "hard": 3, "block": ["read", "gr‸"]}'),
      'value toolBudget.block: gr | read',
    ],
    [
      'a list in a map',
      header('toolBudget:', '  hard: 2', '  block:', '    - read', '    - ‸'),
      'value toolBudget.block:  | read',
    ],
    ['a rule', header('permissions:', '  edit: as‸'), 'value permissions.edit: as | '],
  ])('%s', (_, marked, expected) => expect(shortPlace(marked)).toBe(expected));
});

it.each([
  ['the prompt', '---\nname: a\n---\nmodel: x‸\n'],
  ['the opening line', '--‸-\nname: a\n---\n'],
  ['the closing line', '---\nname: a\n--‸-\n'],
  ['a comment', header('# tools: re‸')],
  ['a comment behind a value', header('model: x # no‸te')],
  ['a comment in a list', header('tools:', '  # re‸', '  - read')],
  ['block text', header('description: |', '  tools: re‸', 'model: x')],
  ['folded text', header('description: >-', '  model: ‸')],
  ['a file without a header', 'name: a‸\n'],
  ['an empty file', '‸'],
])('%s is no place', (_, marked) => expect(placeAt(marked)).toBeUndefined());

it('never fails, whatever is typed and wherever the cursor is, and never reaches out of the header', () => {
  const piece = fc.constantFrom(
    'tools',
    'memory',
    'model',
    ':',
    ' ',
    '  ',
    '\n',
    '\r\n',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    ',',
    '#',
    ' #',
    '|',
    '>',
    'read',
    'a/b:high',
    '\t',
    '---',
    '&x',
    '*x',
    'ä',
    '\u2028',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(200), (pieces, at) => {
      const text = `---\n${pieces.join('')}`;
      const offset = Math.min(at, text.length);
      const place = placeIn(text, offset);
      if (!place) return;
      expect(text.slice(place.span.start, place.span.end)).toBe(place.text);
      expect(place.span.start).toBeGreaterThanOrEqual(4);
      expect(offset).toBeGreaterThanOrEqual(place.span.start);
      expect(offset).toBeLessThanOrEqual(place.span.end);
      expect(place.text).not.toContain('\n---');
    }),
    { numRuns: 3000 },
  );
});

it.each([
  ['a long list', 'tools: ', (at: number) => `tool${at}, `],
  ['a long text', 'description: ', (at: number) => `word${at} `],
  ['a long list in lines', 'tools:\n', (at: number) => `  - tool${at}\n`],
])(
  'goes through %s once',
  (_, begin, piece) => {
    const many = Array.from({ length: 60_000 }, (_, at) => piece(at)).join('');
    const { text, offset } = cut(`---\n${begin}${many}${begin.endsWith('\n') ? '  - ' : ''}‸\n---\n`);
    expect(placeIn(text, offset)).toMatchObject({ at: 'value' });
  },
  5000,
);

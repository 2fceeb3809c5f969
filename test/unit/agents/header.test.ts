/** The header of a definition: YAML, and whatever else people have written there. */
import { describe, expect, it } from 'vitest';
import { agentIn, parsed, said, withFields } from './definitions.ts';

describe('a header', () => {
  it('agent-38 has either kind of line end; a body has one', () => {
    const lines = [
      '---',
      'name: a',
      'description: >',
      '  Folded',
      '  text.',
      'tools: read, ,bash ',
      '---',
      'Line 1',
      '',
      '  Line 2',
      '',
    ];
    for (const end of ['\n', '\r\n']) {
      const text = lines.join(end);
      expect(said(text)).toEqual([]);
      expect(agentIn(text)).toMatchObject({
        description: 'Folded text.',
        tools: ['read', 'bash'],
        systemPrompt: 'Line 1\n\n  Line 2',
      });
    }
  });

  it('agent-39 may have a byte order mark or blank lines before it', () => {
    const text = withFields('timeoutMs: soon');
    expect(said(text)).toEqual(['4:12 error field_invalid']);
    expect(said(`\uFEFF${text}`)).toEqual(['4:12 error field_invalid']);
    expect(said(`\n \n${text}`)).toEqual(['6:12 error field_invalid']);
    expect(agentIn(`\uFEFF\n${withFields()}`).name).toBe('a');
  });

  it('agent-40 has values as YAML has them, and says where others read them differently', () => {
    const text = ['---', 'name: "a"', "description: 'it''s'", 'model: x/y # the quick one', '# a comment', '---'].join(
      '\n',
    );
    expect(agentIn(text)).toMatchObject({ name: 'a', description: "it's", model: 'x/y' });
    expect(said(text)).toEqual(['3:14 info yaml_differs', '4:8 info yaml_differs']);
    expect(parsed(text).diagnostics[1]?.message).toContain('"x/y # the quick one"');
  });

  it('agent-40 has texts that look like something else', () => {
    const text = ['---', 'name: 007', 'description: true', 'model: 1.50', '---'].join('\n');
    expect(agentIn(text)).toMatchObject({ name: '007', description: 'true', model: '1.50' });
    expect(said(text)).toEqual([]);
  });

  it('agent-41 has folded and literal blocks', () => {
    expect(agentIn('---\nname: a\ndescription: |\n  one\n  two\n\n---').description).toBe('one\ntwo');
    expect(agentIn('---\nname: a\ndescription: >-\n  one\n  two\n\n  three\n---').description).toBe('one two\nthree');
  });

  it.each([
    ['commas', 'tools: read, bash,'],
    ['dashes', 'tools:\n  - read\n  - "bash"'],
    ['dashes that are not indented', 'tools:\n- read\n- bash'],
    ['dashes behind tabs', 'tools:\n\t- read\n\t- bash'],
    ['a comment among dashes', 'tools:\n  - read\n  # and\n  - bash'],
    ['brackets', 'tools: [read, "bash"]'],
    ['brackets over several lines', 'tools: [\n  read,\n  bash\n]'],
    ['quotes around all', 'tools: "read, bash"'],
  ])('agent-42 has lists with %s', (_, field) => {
    const { tools } = agentIn(withFields(field));
    expect(tools).toEqual(['read', 'bash']);
    for (const severity of said(withFields(field)).map((one) => one.split(' ')[1]))
      expect(['info', 'warning']).toContain(severity);
  });

  it('agent-43 tells an empty list from an absent one', () => {
    for (const none of ['tools:', 'tools: ""', 'tools: []']) expect(agentIn(withFields(none)).tools, none).toEqual([]);
    expect(agentIn(withFields())).not.toHaveProperty('tools');
  });

  it('agent-44 uses the last of two fields, and says so', () => {
    const text = withFields('model: x/one', 'model: x/two');
    expect(agentIn(text).model).toBe('x/two');
    expect(said(text)).toEqual(['5:1 warning field_duplicate']);
  });

  it('agent-45 keeps fields it does not know, and asks about one that looks mistyped', () => {
    const text = withFields('color: blue', 'tool: read', 'list: [1, 2]');
    expect(agentIn(text).extraFields).toEqual({ color: 'blue', tool: 'read', list: '[1, 2]' });
    expect(said(text)).toEqual(['5:7 warning field_unknown']);
    expect(parsed(text).diagnostics[0]?.hint).toBe('Did you mean tools?');
    expect(said(withFields('turnBudget: 3'))).toEqual(['4:13 warning field_ignored']);
  });

  it('takes what is no YAML as it stands, field by field', () => {
    const text = [
      '---',
      'name:a',
      'description: Use this: when in doubt',
      'model: @x/y',
      'just words',
      'tools: read, *',
      'output: "unclosed',
      '---',
      'Body.',
    ].join('\n');
    expect(agentIn(text)).toMatchObject({
      name: 'a',
      description: 'Use this: when in doubt',
      model: '@x/y',
      tools: ['read', '*'],
      output: '"unclosed',
    });
    expect(said(text).filter((one) => !one.includes('unsupported'))).toEqual([
      '2:6 warning yaml_mended',
      '3:14 warning yaml_mended',
      '4:8 warning yaml_mended',
      '5:1 warning header_line_ignored',
      '7:9 warning yaml_mended',
    ]);
  });

  it('takes a reference to nothing as it stands', () => {
    const text = '---\nname: a\ndescription: *b\n---';
    expect(agentIn(text).description).toBe('*b');
    expect(said(text)).toEqual(['3:14 warning yaml_mended']);
  });

  it('does not let a small file become a large value', () => {
    const doubling = Array.from({ length: 30 }, (_, at) => `x${at + 1}: &x${at + 1} [*x${at}, *x${at}]`);
    const text = withFields('x0: &x0 [1]', ...doubling, 'toolBudget: *x30');
    const from = performance.now();
    expect(said(text)).toContain('35:13 error yaml_invalid');
    expect(performance.now() - from).toBeLessThan(1000);
  });

  it.each([
    ['an open bracket', 'tools: [read', '4:13'],
    ['a map where a list belongs', 'tools: {read: true}', '4:8'],
    ['a flag that is no YAML', 'async: a: b', '4:8'],
  ])('with %s is refused', (_, field, place) => {
    const { agent, diagnostics } = parsed(withFields(field));
    expect(agent).toBeUndefined();
    expect(diagnostics.map(({ line, column }) => `${line}:${column}`)).toEqual([place]);
    expect(diagnostics[0]).toMatchObject({ severity: 'error', name: 'a' });
  });

  it.each([
    ['agent-46 is empty', '', 'header_missing', 'warning'],
    ['agent-46 has no header', 'Just text.', 'header_missing', 'warning'],
    ['agent-46 has text before its header', 'x\n---\nname: a\ndescription: b\n---\n', 'header_missing', 'warning'],
    ['agent-46 has a header without an end', '---\nname: a\ndescription: b\n', 'header_unclosed', 'error'],
    ['has a header of words', '---\njust words\n---\n', 'header_not_fields', 'error'],
    ['has a header that is a list', '---\n- a\n---\n', 'header_not_fields', 'error'],
    ['agent-46 has no name', '---\ndescription: b\n---\n', 'field_missing', 'error'],
    ['agent-46 has a blank name', '---\nname: "  "\ndescription: b\n---\n', 'field_missing', 'error'],
    ['agent-46 has no description', '---\nname: a\n---\n', 'field_missing', 'error'],
  ])('a file that %s is no agent', (_, text, code, severity) => {
    const { agent, diagnostics } = parsed(text);
    expect(agent).toBeUndefined();
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ code, severity, message: expect.any(String), hint: expect.any(String) });
  });

  it('names the agent as far as it can be made out', () => {
    expect(parsed('---\nname: a\n').name).toBe('a');
    expect(parsed('---\nname: a\npackage: My Tools\n---').name).toBe('my-tools.a');
    expect(parsed('---\ndescription: a\n---').name).toBeUndefined();
  });

  it('may have no body', () => {
    for (const text of ['---\nname: a\ndescription: b\n---', '---\nname: a\ndescription: b\n---\n'])
      expect(agentIn(text).systemPrompt).toBe('');
  });
});

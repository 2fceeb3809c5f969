import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMarker } from '../support/scripted-model/marker.ts';
import { ScriptError } from '../support/scripted-model/script-error.ts';

describe('the SCRIPT: marker of a prompt', () => {
  it('is found anywhere in the text, the first one counts', () => {
    expect(findMarker('no marker, only SCRIPT: and script:hello')).toBeUndefined();
    expect(findMarker('Please SCRIPT:bash-sleep, then SCRIPT:hello.')).toEqual({ name: 'bash-sleep', args: {} });
  });

  it('takes key=value pairs up to the first other word', () => {
    const { args } = findMarker('SCRIPT:huge bytes=2000000 note="two words" url=a=b please not=this') ?? {};
    expect(args).toEqual({ bytes: '2000000', note: 'two words', url: 'a=b' });
  });

  it('takes JSON on the same line, over several lines, with brackets and quotes in strings', () => {
    expect(findMarker('SCRIPT:say {"text":"} \\" ]"} and more {"text":1}')?.args).toEqual({ text: '} " ]' });
    expect(findMarker('SCRIPT:steps [\n {"text":"a"},\n {"calls":[{"tool":"x"}]}\n]\n[2]')?.args).toHaveLength(2);
    expect(findMarker('SCRIPT:hello\n{"not":"mine"}')?.args).toEqual({});
  });

  it.each(['SCRIPT:say {"text":', 'SCRIPT:say {text:1}', 'SCRIPT:say [1}'])('refuses the broken JSON of %s', (text) => {
    expect(() => findMarker(text)).toThrow(ScriptError);
  });

  it('reads back any JSON object, whatever follows it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (args, tail) => {
        // Through JSON once, because it knows no -0.
        const text = JSON.stringify(args);
        expect(findMarker(`do SCRIPT:say ${text}${tail}`)).toEqual({ name: 'say', args: JSON.parse(text) });
      }),
    );
  });
});

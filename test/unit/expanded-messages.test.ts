/** Which message a text in the conversation was when it was sent. */
import { describe, expect, it } from 'vitest';
import { ExpandedMessages } from '../../src/core/children/pi-rpc/expanded-messages.ts';

const SKILL = '<skill name="mend">…</skill>\n\nit';

describe('a message in the conversation', () => {
  it('is itself when Pi changed nothing', () => {
    const messages = new ExpandedMessages();
    messages.onQueue({ steering: ['left'], followUp: [] });
    messages.queued('left', 'steering');
    expect([messages.original('left'), messages.original('never sent')]).toEqual(['left', 'never sent']);
  });

  it('is the one that was queued as what it says now, each once', () => {
    const messages = new ExpandedMessages();
    messages.onQueue({ steering: [SKILL], followUp: [] });
    messages.queued('/skill:mend it', 'steering');
    messages.onQueue({ steering: [SKILL, 'plain'], followUp: [] });
    messages.queued('plain', 'steering');
    messages.onQueue({ steering: [SKILL, 'plain'], followUp: [SKILL] });
    messages.queued('/mend it', 'followUp');
    expect(['plain', SKILL, SKILL, SKILL].map((text) => messages.original(text))).toEqual([
      'plain',
      '/skill:mend it',
      '/mend it',
      SKILL,
    ]);
  });

  it('of somebody else is not taken for ours', () => {
    const messages = new ExpandedMessages();
    messages.onQueue({ steering: [SKILL], followUp: [] });
    messages.queued('/skill:mend it', 'steering');
    expect(messages.original('an extension says')).toBe('an extension says');
    expect(messages.original(SKILL)).toBe('/skill:mend it');
  });

  it('is the one that began the run, whatever Pi made of it, and once', () => {
    const messages = new ExpandedMessages();
    messages.began('/skill:mend it');
    expect([messages.original(SKILL), messages.original(SKILL)]).toEqual(['/skill:mend it', SKILL]);
  });
});

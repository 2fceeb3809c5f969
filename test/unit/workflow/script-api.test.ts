import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../support/project-root.ts';
import { play } from './workflow.ts';

const text = readFileSync(join(projectRoot(), 'docs', 'script-api.md'), 'utf8');

/** Every fenced `js` block with the heading above it. */
function examples(): { heading: string; script: string }[] {
  const found: { heading: string; script: string }[] = [];
  for (const section of text.split(/^#{2,3} /m).slice(1)) {
    const heading = section.slice(0, section.indexOf('\n'));
    for (const [, script = ''] of section.matchAll(/```js\n([\s\S]*?)```/g)) found.push({ heading, script });
  }
  return found;
}

describe('docs/script-api.md', () => {
  for (const { heading, script } of examples()) {
    it(`runs: ${heading}: ${script.split('\n')[0]}`, async () => {
      const stored = new Map<string, unknown>();
      const execution = await play(script, {
        state: { get: (key) => stored.get(key), set: (key, value) => void stored.set(key, value) },
        host: {
          steer: () => ({ state: 'delivered' }),
          status: () => ({ ok: true }),
          hostCommand: () => ({ ok: true, state: 'passed', exitCode: 0, stdout: 'passed', stderr: '' }),
        },
      });
      expect(execution.error).toBeUndefined();
      expect(execution.ok).toBe(true);
    });
  }

  it('has an example for every member', () => {
    const scripts = examples()
      .map(({ script }) => script)
      .join('\n');
    for (const member of [
      'runs.run(',
      'runs.all(',
      'runs.lanes(',
      'runs.steer(',
      'runs.host(',
      'runs.status(',
      'runs.ref(',
      'runs.refs(',
      'emit(',
      'console.log(',
      'console.warn(',
      'args',
      'state.get(',
      'state.set(',
    ]) {
      expect(scripts).toContain(member);
    }
  });
});

/** The workflows of the demo folder: right in every respect, and told before they run. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundledAgents } from '../../src/core/agents/index.ts';
import { analyseScript } from '../../src/core/workflow/analyse-script.ts';
import { agentFindings } from '../../src/core/workflow/index.ts';
import { projectRoot } from '../support/project-root.ts';

const folder = join(projectRoot(), 'samples', 'workflows');
const samples = readdirSync(folder);
const analysisOf = (name: string) => analyseScript(readFileSync(join(folder, name), 'utf8'));

describe('the sample workflows', () => {
  it.each(samples)('%s has nothing that the check complains about', (name) => {
    const { findings, agents } = analysisOf(name);
    expect([...findings, ...agentFindings(agents, bundledAgents())]).toEqual([]);
  });

  it('tell what they will do before they do it', () => {
    const told = Object.fromEntries(
      samples.map((name) => {
        const { children = [], hasMore, hosts = [], inputs } = analysisOf(name).outlook ?? {};
        return [
          name,
          {
            children: children.length,
            hasMore,
            commands: hosts.map(({ command }) => command),
            inputs: inputs?.named.map(({ name: input, isOptional }) => `${input}${isOptional ? '?' : ''}`),
          },
        ];
      }),
    );
    expect(told).toEqual({
      'fix-until-green.js': { children: 0, hasMore: true, commands: ['node --test'], inputs: ['rounds?'] },
      'implement-challenge-review.js': { children: 6, hasMore: false, commands: [], inputs: [] },
      'map-over-files.js': { children: 0, hasMore: true, commands: [], inputs: ['files?'] },
      'parallel-review.js': { children: 4, hasMore: false, commands: [], inputs: ['target?'] },
    });
  });
});

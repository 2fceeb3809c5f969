import { expect, it } from 'vitest';
import { plainLabel } from '../../../src/extension/plain-label.ts';

it('leaves nothing in a label that a list would draw as an icon', () => {
  // As VS Code looks for icons in labels: what has a backslash before it stays text.
  const icons = (label: string) =>
    [...label.matchAll(/(\\)?\$\(([A-Za-z0-9-]+(?:~[A-Za-z]+)?)\)/g)].filter(([, kept]) => !kept);
  expect(icons('Print $(date) and $(sync~spin)')).toHaveLength(2);
  expect(icons(plainLabel('Print $(date) and $(sync~spin)'))).toEqual([]);
  expect(plainLabel('No $ign of (one)')).toBe('No $ign of (one)');
});

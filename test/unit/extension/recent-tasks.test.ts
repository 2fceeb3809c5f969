import { expect, it } from 'vitest';
import { addRecent } from '../../../src/extension/launch/recent-tasks.ts';

it('keeps twenty tasks, the newest first, each once', () => {
  let tasks: string[] = [];
  for (let i = 0; i < 30; i++) tasks = addRecent(tasks, `task ${i}`);
  expect(tasks).toHaveLength(20);
  expect(tasks.slice(0, 2)).toEqual(['task 29', 'task 28']);
  tasks = addRecent(tasks, 'task 15');
  expect(tasks).toHaveLength(20);
  expect(tasks.slice(0, 2)).toEqual(['task 15', 'task 29']);
});

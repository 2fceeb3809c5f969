/** A test that failed is tried again in the world of its file: it finds the gates as they were before. */
import { afterEach } from 'vitest';
import { closeAllGates } from './fake-pi/index.ts';

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await closeAllGates();
});

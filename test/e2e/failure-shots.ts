import { afterEach } from 'vitest';
import type { Workbench } from './workbench.ts';

/** Takes a picture of the window after each failed test of the file; call it once, at the top level of a suite. */
export function shootFailures(workbench: () => Workbench | undefined): void {
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    const name = `FAILED-${task.name.replaceAll(/[^\p{L}\p{N}]+/gu, '-')}`;
    await workbench()
      ?.screenshot(name)
      .catch(() => {}); // the test's own error is the one to report
  });
}

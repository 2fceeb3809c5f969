/** Under which name a message that was begun to a run's child is remembered, wherever it was begun. */
export function steerDraftKey(runId: string, child: number): string {
  return child === 1 ? `steer.${runId}` : `steer.${runId}.${child}`;
}

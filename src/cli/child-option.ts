import { childNamed } from '../client/index.ts';
import { RunReader } from '../core/runs/index.ts';
import type { ChildView } from '../protocol/index.ts';

/** The child that `--child` names. Throws `child_unknown`. */
export async function childOf(directory: string, name: string): Promise<ChildView> {
  return childNamed((await RunReader.open(directory)).view, name);
}

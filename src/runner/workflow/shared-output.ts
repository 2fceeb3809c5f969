/** That no two of a workflow write one file, by whatever path it is named: the engine knows the names alone, here links are looked through. */
import { isTerminal, lanesError, type RunView } from '../../protocol/index.ts';

/**
 * What failed leaves its file to others; what has ended well does not, for its result stands there.
 * @param path as it really is
 * @throws LanesError `output_in_use` with both keys and the path
 */
export function refuseSharedOutput({ children, workflow }: RunView, key: string, path: string): void {
  const other =
    children.find(
      (child) =>
        child.key !== key && child.output?.path === path && (!isTerminal(child.state) || child.state === 'complete'),
    )?.key ??
    workflow?.hosts.find((host) => host.key !== key && host.outputPath === path && host.state === 'passed')?.key;
  if (other !== undefined) throw lanesError('output_in_use:workflow', { key, other, file: path });
}

import { resolve } from 'node:path';

/** What a window of the editor shows. At most one of `folder` and `workspace`; neither is an empty window. */
export interface WindowTarget {
  readonly folder?: string;
  /** A `.code-workspace` file. */
  readonly workspace?: string;
  /** A file that is opened in an editor at once. */
  readonly file?: string;
}

/** Extensions and test entry of a test window; VS Code heeds them only when the server runs with its driver. */
export interface TestWindow {
  readonly development: readonly string[];
  readonly tests: string;
}

/** The address of a window on the server at `serverUrl`. */
export function workbenchUrl(serverUrl: string, target: WindowTarget, testWindow?: TestWindow): string {
  const url = new URL(serverUrl);
  if (target.workspace) url.searchParams.set('workspace', resolve(target.workspace));
  else if (target.folder) url.searchParams.set('folder', resolve(target.folder));
  else url.searchParams.set('ew', 'true');

  const payload: [string, string][] = [];
  for (const path of testWindow?.development ?? [])
    payload.push(['extensionDevelopmentPath', remoteUri(serverUrl, path)]);
  if (testWindow) payload.push(['extensionTestsPath', remoteUri(serverUrl, testWindow.tests)]);
  if (target.file) payload.push(['openFile', remoteUri(serverUrl, target.file)]);
  if (payload.length > 0) url.searchParams.set('payload', JSON.stringify(payload));
  return url.href;
}

/** The URI under which the workbench knows a path: the remote's name is the page's own host and port. */
function remoteUri(serverUrl: string, path: string): string {
  return `vscode-remote://${new URL(serverUrl).host}${resolve(path)}`;
}

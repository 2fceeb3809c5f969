/** Which files are workflow scripts. */

/**
 * Whether a path names a workflow script: `*.workflow.js`, `*.workflow.mjs`, or a `.js`/`.mjs` file in a folder `.pi/workflows`
 * or one of `folders` (absolute). Both kinds of slash are understood.
 */
export function isWorkflowPath(path: string, folders: readonly string[]): boolean {
  const plain = path.replaceAll('\\', '/');
  if (!/\.m?js$/.test(plain)) return false;
  if (/\.workflow\.m?js$/.test(plain) || plain.includes('/.pi/workflows/')) return true;
  return folders.some((folder) => plain.startsWith(`${folder.replaceAll('\\', '/').replace(/\/+$/, '')}/`));
}

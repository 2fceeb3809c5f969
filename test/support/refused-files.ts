/** A Node whose file operations are refused by rule: what permissions do to anybody but root, and other programs to files. */
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Refusal {
  code: 'EACCES' | 'EPERM' | 'EBUSY' | 'ENOSPC';
  /** Regular expression on the path that would be changed. */
  path: string;
}

export interface RefusedFiles {
  /** Executable to be used as Node. */
  node: string;
  /** From now on what fits is refused, in every process of that Node. Nothing given: nothing is. */
  refuse(refusal?: Refusal): Promise<void>;
  /** Paths that were refused so far, each as often as it was. */
  refused(): Promise<string[]>;
}

/** @param folder where its files lie; belongs to the caller */
export async function refusedFiles(folder: string): Promise<RefusedFiles> {
  const rule = join(folder, 'rule.json');
  const hook = join(folder, 'refused-files.mjs');
  const node = join(folder, 'node-with-refused-files');
  const refused = join(folder, 'refused.txt');
  await writeFile(rule, 'null');
  await writeFile(refused, '');
  await writeFile(
    hook,
    `import { appendFileSync, constants, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import fs from 'node:fs/promises';
const WRITES = /[wax+]/;
function check(call, path) {
  const rule = JSON.parse(readFileSync(${JSON.stringify(rule)}, 'utf8'));
  if (!rule || !new RegExp(rule.path).test(String(path))) return;
  appendFileSync(${JSON.stringify(refused)}, String(path) + '\\0');
  const error = new Error(rule.code + ': refused, ' + call + " '" + path + "'");
  throw Object.assign(error, { code: rule.code, syscall: call, path: String(path) });
}
const changed = { mkdir: 0, writeFile: 0, rename: 1, link: 1, copyFile: 1, rm: 0, unlink: 0 };
for (const [name, index] of Object.entries(changed)) {
  const real = fs[name];
  fs[name] = async (...args) => {
    check(name, args[index]);
    return real(...args);
  };
}
const open = fs.open;
fs.open = async (path, flags, ...rest) => {
  // Flags come as letters and as numbers.
  const writes = typeof flags === 'number' ? (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0 : WRITES.test(flags ?? 'r');
  if (writes) check('open', path);
  return open(path, flags, ...rest);
};
syncBuiltinESMExports();
`,
  );
  await writeFile(node, `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} --import ${JSON.stringify(hook)} "$@"\n`);
  await chmod(node, 0o755);
  return {
    node,
    refuse: async (refusal) => {
      await writeFile(`${rule}.new`, JSON.stringify(refusal ?? null));
      await rename(`${rule}.new`, rule);
    },
    refused: async () => (await readFile(refused, 'utf8')).split('\0').filter(Boolean),
  };
}

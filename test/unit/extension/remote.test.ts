/** The editor's window may be on another machine than its files, and the extension host's own folder means nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../support/project-root.ts';

const folder = join(projectRoot(), 'src', 'extension');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));

it.each(sources)('%s takes no path from the process', (path) => {
  expect(readFileSync(join(folder, path), 'utf8')).not.toMatch(/process\.cwd\(|homedir\(|workspace\.rootPath/);
});

// Writes docs/control.md from test/support/control-matrix.ts. A test fails when the page is not up to date.
// Usage: node scripts/control-matrix.mjs
import { writeFileSync } from 'node:fs';
import { controlPage } from '../test/support/control-matrix.ts';

writeFileSync(new URL('../docs/control.md', import.meta.url), controlPage());

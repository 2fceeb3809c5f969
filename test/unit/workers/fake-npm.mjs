// Stands in for npm-cli.js. FAKE_NPM names a folder: `published.json` is what `view` prints, `mode` what `install` does,
// and every call is noted in `calls`.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.FAKE_NPM;
const args = process.argv.slice(2);
appendFileSync(join(folder, 'calls'), `${JSON.stringify({ args, cwd: process.cwd(), pid: process.pid })}\n`);
const read = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '');

if (args[0] === 'view') {
  process.stdout.write(read('published.json'));
} else {
  const mode = read('mode');
  const version = args.at(-1).split('@').at(-1);
  const home = join(process.cwd(), 'node_modules', '@earendil-works', 'pi-coding-agent');
  mkdirSync(home, { recursive: true });
  const manifest = { name: '@earendil-works/pi-coding-agent', version, type: 'module', bin: { pi: 'cli.js' } };
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
  if (mode === 'fails') {
    console.error(
      'npm error code E404\nnpm error 404 Not Found - GET http://x/pi\nnpm error A complete log of this run can be found in: /x',
    );
    process.exit(1);
  }
  if (mode === 'hangs') setInterval(() => {}, 1000);
  else if (mode !== 'incomplete') {
    writeFileSync(join(home, 'cli.js'), `console.log(${JSON.stringify(mode === 'lies' ? '0.0.1' : version)});\n`);
  }
}

// grandchild.mjs <seconds> <ignore-term|plain>: sleeps. Says on descriptor 3 when it does, so that nobody signals too soon.
import { closeSync, writeSync } from 'node:fs';

const [seconds, manner] = process.argv.slice(2);
if (manner === 'ignore-term') for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => undefined);
setTimeout(() => undefined, Number(seconds) * 1000);
writeSync(3, 'sleeping\n');
closeSync(3);

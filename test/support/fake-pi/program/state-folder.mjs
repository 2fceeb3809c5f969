// The fake's memory across processes: a folder beside its package.json. Counters are files that only one can create.
import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLaunch, parse } from './plan.mjs';

export class StateFolder {
  #path;

  constructor(path) {
    this.#path = path;
  }

  /** 1 for the first caller with this key in this state folder, 2 for the second, in any process. */
  count(key, content = {}) {
    const folder = join(this.#path, 'counts');
    mkdirSync(folder, { recursive: true });
    const name = /^[\w-]{1,40}$/.test(key) ? key : createHash('sha256').update(key).digest('hex').slice(0, 16);
    for (let n = 1; ; n++) {
      const file = join(folder, `${name}.${n}.json`);
      if (existsSync(file)) continue;
      // A link appears whole or not at all, and only one can make it.
      const half = join(folder, `${name}.${process.pid}.half`);
      writeFileSync(half, `${JSON.stringify({ n, ...content })}\n`);
      try {
        linkSync(half, file);
        return n;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      } finally {
        unlinkSync(half);
      }
    }
  }

  noteProcess(kind, pid) {
    const folder = join(this.#path, 'processes');
    mkdirSync(folder, { recursive: true });
    const half = join(folder, `${pid}.half`);
    writeFileSync(half, `${JSON.stringify({ kind, pid })}\n`);
    renameSync(half, join(folder, `${pid}.json`));
  }

  /** Says that a process waits at a gate, and where the file appears that opens it. */
  arriveAt(name) {
    const folder = join(this.#path, 'gates');
    mkdirSync(folder, { recursive: true });
    const half = join(folder, `${name}.${process.pid}.half`);
    writeFileSync(half, `${process.pid}\n`);
    renameSync(half, join(folder, `${name}.waiting`));
    return join(folder, `${name}.open`);
  }

  /**
   * The plan for this start: from the environment, else from the file that a test wrote. The first rule that fits
   * decides; `launches` picks by how often that rule has decided, and its last one stays.
   */
  launchPlan(env, kind, commandLine) {
    const file = join(this.#path, 'launch-plan.json');
    const source = env.PI_LANES_FAKE_PLAN || (existsSync(file) ? readFileSync(file, 'utf8') : '{}');
    const rules = [parse(source)].flat();
    for (const [index, rule] of rules.entries()) {
      checkLaunch(rule);
      const wanted = rule.for ?? 'child';
      if (wanted !== 'any' && wanted !== kind) continue;
      if (rule.match !== undefined && !new RegExp(rule.match).test(commandLine)) continue;
      if (rule.launches === undefined) return rule;
      const n = this.count(`rule-${index}-${source}`);
      return { ...rule, ...rule.launches[Math.min(n, rule.launches.length) - 1] };
    }
    return {};
  }
}

// What a run of Vitest came to, as JSON: numbers, and the tests to look at by name. The path is in VITEST_VERDICT.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export default class VerdictReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const verdict = { passed: 0, failed: 0, failures: [], secondTries: [] };
    for (const error of unhandledErrors) fail(verdict, 'outside of any test', error.message);
    for (const module of modules) addModule(verdict, module);
    const path = process.env.VITEST_VERDICT;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(verdict, null, 2)}\n`);
  }
}

function addModule(verdict, module) {
  for (const error of module.errors()) fail(verdict, module.relativeModuleId, error.message);
  for (const test of module.children.allTests()) {
    const name = `${module.relativeModuleId} > ${test.fullName}`;
    const { state, errors } = test.result();
    if (state === 'failed') fail(verdict, name, errors[0]?.message);
    if (state === 'passed') verdict.passed++;
    if (test.diagnostic()?.flaky) verdict.secondTries.push(name);
  }
}

function fail(verdict, name, message = 'no message') {
  verdict.failed++;
  verdict.failures.push({ name, message: message.split('\n')[0] });
}

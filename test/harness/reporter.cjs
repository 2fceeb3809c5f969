// Mocha's spec output and one closing line that a script can read.
const { reporters } = require('mocha');

module.exports = class SpecWithVerdict extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failures = [];
    const secondTries = [];
    runner.on('fail', (test, error) => failures.push({ name: test.fullTitle(), message: firstLine(error) }));
    runner.on('pass', (test) => {
      if (test.currentRetry() > 0) secondTries.push(test.fullTitle());
    });
    runner.once('end', () => {
      const { passes: passed, failures: failed } = this.stats;
      console.log(`verdict: ${JSON.stringify({ passed, failed, failures, secondTries })}`);
    });
  }
};

function firstLine(error) {
  return String(error?.message ?? error).split('\n')[0];
}

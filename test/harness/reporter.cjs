// Mocha's spec output and one closing line that a script can read.
const { reporters } = require('mocha');

module.exports = class SpecWithTotals extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      console.log(`${passes} passed, ${failures} failed, ${pending} skipped`);
    });
  }
};

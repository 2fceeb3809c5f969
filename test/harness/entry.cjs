// Runs inside the extension host in front of the real test entry and leaves proof that it came to its end: a killed
// extension host is otherwise reported by the workbench as exit code 0.
const { writeFileSync } = require('node:fs');

function leaveProof(proof) {
  writeFileSync(process.env.VSCODE_TEST_PROOF, JSON.stringify(proof));
}

/** Test entries either return a promise or, the older way, call back with an error or the number of failures. */
function runEntry(run) {
  if (run.length < 2) return run();
  return new Promise((resolve, reject) => {
    run(undefined, (error, failures) => {
      if (error || failures) reject(error ?? new Error(`${failures} failed`));
      else resolve();
    });
  });
}

exports.run = async () => {
  try {
    await runEntry(require(process.env.VSCODE_TEST_ENTRY).run);
  } catch (error) {
    leaveProof({ ok: false });
    throw error;
  }
  leaveProof({ ok: true });
};

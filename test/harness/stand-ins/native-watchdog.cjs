// Stands in for @vscode/native-watchdog, which ends the extension host when its parent hangs. The harness ends the whole
// process group itself.
exports.start = () => {};

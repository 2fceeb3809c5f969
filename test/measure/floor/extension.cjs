'use strict';
const vscode = require('vscode');

/** One row, known beforehand; its status bar item says that the extension is there. */
exports.activate = (context) => {
  const treeDataProvider = {
    getChildren: (row) => (row ? [] : ['The only row.']),
    getTreeItem: (row) => new vscode.TreeItem(row),
  };
  const ready = vscode.window.createStatusBarItem('floor.ready');
  ready.text = 'Floor is ready';
  ready.show();
  context.subscriptions.push(ready, vscode.window.createTreeView('floor.row', { treeDataProvider }));
};

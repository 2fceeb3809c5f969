/** New Workflow…: a script to begin with, from the samples that come along. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import * as vscode from 'vscode';
import { workflowFolders } from '../configuration.ts';
import { plain } from '../messages.ts';
import type { Services } from '../services.ts';
import { libraryFolder } from './library-folder.ts';

interface Template extends vscode.QuickPickItem {
  /** Of the folder of samples; absent: the shortest script. */
  sample?: string;
}

const SHORTEST = `// What this script does, in a line.\nconst result = await runs.run('work', { agent: 'worker', task: 'Say what is to be done.' });\nreturn result.output;\n`;

export async function newWorkflow(services: Services, clicked: unknown): Promise<void> {
  const title = vscode.l10n.t('New Workflow');
  const folder = await libraryFolder(services, clicked, title);
  if (!folder) return;
  const picked = await vscode.window.showQuickPick(templates(), {
    title,
    placeHolder: vscode.l10n.t('What should it begin as?'),
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  if (!picked) return;
  const place = await placeFor(folder);
  const typed = await vscode.window.showInputBox({
    title,
    value: (picked.sample ?? 'my-workflow').replace(/\.js$/, ''),
    prompt: vscode.l10n.t('The name of the script. It is written to {0}.', place),
    ignoreFocusOut: true,
    validateInput: async (text) => {
      if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(text.trim()))
        return vscode.l10n.t('Use letters, digits, dots and dashes.');
      return (await isThere(fileFor(folder, place, text))) ? vscode.l10n.t('This file is there already.') : undefined;
    },
  });
  if (typed === undefined) return;
  const uri = fileFor(folder, place, typed);
  const text = picked.sample === undefined ? SHORTEST : await sampleText(services, picked.sample);
  try {
    await mkdir(dirname(uri.fsPath), { recursive: true });
    // Never over a file that somebody has made meanwhile.
    await writeFile(uri.fsPath, text, { flag: 'wx' });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(plain(vscode.l10n.t('{0} could not be written: {1}', uri.fsPath, reason)));
    return;
  }
  await vscode.window.showTextDocument(uri, { preview: false });
}

function templates(): Template[] {
  return [
    { label: vscode.l10n.t('One Agent'), detail: vscode.l10n.t('The shortest script: one agent does one thing.') },
    {
      label: vscode.l10n.t('Parallel Review'),
      detail: vscode.l10n.t(
        'Three agents look at the same code from different sides, a fourth makes one report of it.',
      ),
      sample: 'parallel-review.js',
    },
    {
      label: vscode.l10n.t('Implement, Challenge, Review'),
      detail: vscode.l10n.t('Lanes beside each other: each piece of work is done, doubted and reviewed.'),
      sample: 'implement-challenge-review.js',
    },
    {
      label: vscode.l10n.t('Map over Files'),
      detail: vscode.l10n.t('One agent for each of several files, all at once.'),
      sample: 'map-over-files.js',
    },
    {
      label: vscode.l10n.t('Fix until Green'),
      detail: vscode.l10n.t('A command says whether the work is done; as long as it fails, an agent is told why.'),
      sample: 'fix-until-green.js',
    },
  ];
}

/** Where scripts of a folder are, relative to it: with Pi's other things where it has any, else where the setting says. */
async function placeFor(folder: vscode.WorkspaceFolder): Promise<string> {
  if (await isThere(vscode.Uri.joinPath(folder.uri, '.pi'))) return '.pi/workflows';
  return posix.normalize((workflowFolders(folder.uri)[0] ?? 'workflows').replaceAll('\\', '/')).replace(/\/+$/, '');
}

function fileFor(folder: vscode.WorkspaceFolder, place: string, name: string): vscode.Uri {
  const plain = name.trim().replace(/(\.workflow)?\.m?js$/, '');
  return vscode.Uri.joinPath(folder.uri, place, `${plain}.workflow.js`);
}

async function sampleText({ toolbox }: Services, name: string): Promise<string> {
  const uri = vscode.Uri.file(join(toolbox.distDirectory, '..', 'samples', 'workflows', name));
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}

async function isThere(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
}

/** Open Pi in a Terminal: the Pi that agents run in, to log in to a model with it. It need not be on the shell's `PATH`. */
import * as vscode from 'vscode';
import { requireTrust } from '../launch/start-agent.ts';
import type { Services } from '../services.ts';

export async function openPi(services: Services): Promise<void> {
  requireTrust();
  const { command } = (await services.toolbox.tools()).installation;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const terminal = vscode.window.createTerminal({
    name: 'Pi',
    shellPath: command.file,
    shellArgs: command.args,
    env: { ...command.env, PI_CODING_AGENT_DIR: services.toolbox.agentDir },
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  terminal.show();
}

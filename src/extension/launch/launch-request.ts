/** What the editor asks for when it launches an agent: the same for the launch and for the plan that is shown before it. */
import type * as vscode from 'vscode';
import type { LaunchRequest } from '../../client/index.ts';
import { launchDefaults } from '../configuration.ts';
import type { Services } from '../services.ts';
import { withAttachment } from './attachment.ts';
import type { Draft } from './draft.ts';
import { type Workplace, workplaceFields } from './workplaces.ts';

/** Throws `launch_invalid` for a limit of the settings that cannot be one. */
export function launchRequest(
  { owner }: Pick<Services, 'owner'>,
  folder: vscode.WorkspaceFolder,
  { agent, model, thinking, task, attached }: Draft & { agent: string },
  workplace: Workplace,
): LaunchRequest {
  return {
    agent,
    task: withAttachment(task, attached),
    cwd: folder.uri.fsPath,
    fallbackRoot: folder.uri.fsPath,
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...workplaceFields(workplace),
    ...launchDefaults(folder.uri),
    owner,
    trust: 'approve',
  };
}

import { scriptInHand } from '../editor/script-in-hand.ts';
import { chooseFolder } from '../launch/choose-folder.ts';
import { chooseWorkplace } from '../launch/choose-workplace.ts';
import { requireTrust } from '../launch/start-agent.ts';
import type { Services } from '../services.ts';
import { libraryScript } from '../trees/library/library-node.ts';
import { startWorkflow } from '../workflows/start-workflow.ts';

/** Runs the script that is shown, or the one whose lens, button or row was clicked. */
export async function runWorkflow(services: Services, clicked: unknown): Promise<void> {
  requireTrust();
  const document = await scriptInHand(libraryScript(clicked) ?? clicked);
  if (document) await startWorkflow(services, document);
}

/** Where the agents of workflows work, for all scripts of the folder that the one in hand lies in. */
export async function chooseWorkflowWorkplace(services: Services, clicked: unknown): Promise<void> {
  requireTrust();
  const document = await scriptInHand(clicked);
  const folder = document && (await chooseFolder(services.state, document.uri));
  if (folder) await chooseWorkplace(services, folder, 'workflow');
}

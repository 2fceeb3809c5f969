/**
 * What is pictured: the states in which a person meets Pi Lanes. To add one, add it here, with the scene it plays in
 * (`scenes.ts`) and how it is brought about; `hide` leaves the window as it was for the next one.
 */
import { steerBox } from '../e2e/workbench-transcripts.ts';
import { waitFor } from '../support/wait-for.ts';
import { writeRun } from '../unit/builders/run.ts';
import { endedRun } from './ended-run.ts';
import type { SceneName, Stage } from './scenes.ts';

export interface ShotState {
  /** `<name>-<theme>.png` */
  name: string;
  scene: SceneName;
  /** Resolves when the window shows it. Absent: the scene itself is the state. */
  show?(stage: Stage): Promise<void>;
  hide?(stage: Stage): Promise<void>;
}

const closeEditors = ({ workbench }: Stage) => workbench.command('View: Close All Editors');
const cancelBox = ({ workbench }: Stage) => workbench.quickInput.cancel();

/** Closes the choice, which leads back to the box it came from, and that. */
async function cancelLaunch({ workbench }: Stage): Promise<void> {
  await workbench.page.keyboard.press('Escape');
  await workbench.quickInput.waitForTitle('Launch worker');
  await workbench.quickInput.cancel();
}

async function beginLaunch({ workbench }: Stage): Promise<void> {
  await workbench.command('Pi Lanes: Launch Agent…');
  await workbench.quickInput.pick('worker');
  await workbench.quickInput.waitForTitle('Launch worker');
}

export const STATES: readonly ShotState[] = [
  {
    name: 'empty',
    scene: 'bare',
    show: async ({ workbench }) => workbench.page.getByText('No agent has run here yet.').waitFor(),
  },
  {
    name: 'walkthrough',
    scene: 'bare',
    show: async ({ workbench }) => {
      await workbench.command('Pi Lanes: Get Started');
      const steps = workbench.page.locator('.gettingStartedContainer .getting-started-step');
      const found = steps.filter({ hasText: 'Have Pi on this machine' });
      await found.locator('.codicon-getting-started-step-checked.complete').waitFor({ timeout: 60_000 });
      await steps.filter({ hasText: 'Launch your first agent' }).click();
      await waitFor('the picture of the step', async () => {
        const picture = 'svg:has(title:text("Agents on three lanes"))';
        const pictures = workbench.page.frames().map((frame) => frame.locator(picture).first().isVisible());
        return (await Promise.all(pictures)).includes(true);
      });
    },
    hide: closeEditors,
  },
  {
    name: 'pi-missing',
    scene: 'no-pi',
    show: async ({ workbench }) => workbench.page.getByRole('button', { name: 'Install Pi…' }).waitFor(),
  },
  {
    name: 'untrusted',
    scene: 'untrusted',
    show: async ({ workbench }) => workbench.page.getByText('Agents do not start in a workspace').waitFor(),
  },
  { name: 'runs', scene: 'busy' },
  {
    name: 'filtered',
    scene: 'busy',
    show: async ({ workbench }) => {
      await workbench.trees.viewAction('Runs', 'Filter Runs…');
      await workbench.quickInput.waitForTitle('Filter Runs');
      await workbench.quickInput.fill('pier');
      await workbench.quickInput.accept();
      await workbench.trees.row(/^Check the cranes/).waitFor({ state: 'detached' });
      await workbench.page.getByText(/^\d of \d+ runs: "pier"$/).waitFor();
    },
    hide: async ({ workbench }) => workbench.trees.viewAction('Runs', 'Clear Filter'),
  },
  {
    name: 'launch-quick-pick',
    scene: 'busy',
    show: async (stage) => {
      await beginLaunch(stage);
      await stage.workbench.quickInput.fill('Find out why ships wait at the north pier');
      await stage.workbench.quickInput.row('Find out why ships wait at the north pier').waitFor();
    },
    hide: cancelBox,
  },
  {
    name: 'folder-or-worktree',
    scene: 'bare',
    show: async (stage) => {
      await beginLaunch(stage);
      await stage.workbench.quickInput.pick('Folder or Worktree…');
      await stage.workbench.quickInput.row('In a new worktree').waitFor();
    },
    hide: cancelLaunch,
  },
  {
    name: 'folder-or-worktree-refused',
    scene: 'busy',
    show: async (stage) => {
      await beginLaunch(stage);
      await stage.workbench.quickInput.pick('Folder or Worktree…');
      await stage.workbench.quickInput.row('No worktree can be made now').waitFor();
    },
    hide: cancelLaunch,
  },
  {
    name: 'launch-plan',
    scene: 'busy',
    show: async (stage) => {
      await beginLaunch(stage);
      await stage.workbench.quickInput.fill('Find out why ships wait at the north pier');
      await stage.workbench.quickInput.row('Tools').click();
      await stage.workbench.waitForEditorText('# Plan of worker');
      await cancelBox(stage);
    },
    hide: closeEditors,
  },
  {
    name: 'worktree-row',
    scene: 'busy',
    show: async ({ workbench }) => {
      await workbench.trees.expand(workbench.trees.row(/^Try another tide table: worker has completed/));
      await workbench.trees.row(/^Worktree pi-lanes\/.*: kept: 1 file/).click();
      await workbench.waitForEditorText('+scripted');
    },
    hide: closeEditors,
  },
  {
    name: 'find-in-transcripts',
    scene: 'busy',
    show: async ({ workbench }) => {
      await workbench.command('Pi Lanes: Find in Transcripts…');
      await workbench.quickInput.waitForTitle('Find in Transcripts');
      await workbench.quickInput.fill('notes.md');
      await workbench.quickInput.row('Write a note for new people').waitFor();
    },
    hide: cancelBox,
  },
  {
    name: 'task-editor',
    scene: 'busy',
    show: async (stage) => {
      const { page } = stage.workbench;
      await beginLaunch(stage);
      await stage.workbench.quickInput.fill('Find out why ships wait at the north pier.');
      await page.locator('.quick-input-widget').getByRole('button', { name: 'Write in an Editor' }).click();
      await page.getByRole('button', { name: 'Launch worker' }).waitFor();
      await page.keyboard.press('Enter');
      await page.keyboard.type('Look at src/berths.js first, and say what you would change.');
      await page.locator('.tabs-container .tab.dirty').waitFor({ state: 'detached' });
    },
    hide: async ({ workbench }) => {
      await workbench.command('Pi Lanes: Discard Task');
      await workbench.dialogs.answer('Discard this task?', 'Discard');
      await workbench.tab('Task.pi-task').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'settings',
    scene: 'busy',
    show: async ({ workbench }) => {
      await workbench.command('Preferences: Open Settings (UI)');
      await workbench.page.locator('.settings-editor .suggest-input-container .view-line').click();
      await workbench.page.keyboard.type('@ext:pi-lanes.pi-lanes');
      await workbench.page.locator('.settings-count-widget:visible', { hasText: 'Settings Found' }).waitFor();
      // Out of the box, whose suggestion covers what is below; Escape would take the words back.
      await workbench.page.locator('.settings-toc-container').getByText('Pi Lanes').click();
      await workbench.page.locator('.suggest-widget.visible').waitFor({ state: 'detached' });
    },
    hide: closeEditors,
  },
  {
    name: 'transcript',
    scene: 'busy',
    show: async ({ workbench }) => {
      await workbench.trees.row(/^Write a note for new people: worker has completed/).click();
      await workbench.transcripts.waitFor(/Write a note for new people/, { word: 'complete', text: /Done\./ });
    },
    hide: closeEditors,
  },
  {
    name: 'transcript-working',
    scene: 'busy',
    show: async ({ workbench }) => {
      await workbench.trees.row(/^Check the cranes: worker is running/).click();
      const page = await workbench.transcripts.waitFor(/Check the cranes/, { word: 'running', text: /sleep/ });
      await steerBox(page).click();
      await steerBox(page).pressSequentially('Leave out the one in the north');
    },
    hide: async (stage) => {
      const page = await stage.workbench.transcripts.waitFor(/Check the cranes/);
      await steerBox(page).fill('');
      await closeEditors(stage);
    },
  },
  {
    name: 'transcript-asking',
    scene: 'trouble',
    show: async ({ workbench }) => {
      await workbench.trees.row(/^Find a berth for the ferry: worker is waiting/).click();
      await workbench.transcripts.waitFor(/Find a berth for the ferry/, { word: 'waiting' });
    },
    hide: closeEditors,
  },
  {
    name: 'needs-you',
    scene: 'trouble',
    show: async ({ workbench }) => workbench.trees.row('4 runs need you.').waitFor(),
  },
  {
    name: 'notice-failed',
    scene: 'trouble',
    show: async ({ workbench, project }) => {
      await writeRun(project, endedRun({ task: 'Count the ships', state: 'failed', minutesAgo: 0 }));
      await workbench.command('Pi Lanes: Refresh Runs');
      await workbench.notifications.waitFor(/"Count the ships" failed/);
      await workbench.trees.row('5 runs need you.').waitFor();
    },
    hide: async ({ workbench }) => {
      await workbench.notifications.clear();
      await workbench.trees.inlineAction(workbench.trees.row(/^Count the ships: worker has failed/), 'Mark as Seen');
    },
  },
  { name: 'workflow', scene: 'workflow' },
  {
    name: 'workflow-child',
    scene: 'workflow',
    show: async ({ workbench }) => {
      await workbench.trees.row(/^north\.build: worker is running/).click();
      await workbench.transcripts.waitFor(/^piers · north\.build$/, { word: 'running', text: /tide table/ });
    },
    hide: closeEditors,
  },
  {
    name: 'workflow-consent',
    scene: 'workflow',
    show: async ({ workbench }) => {
      await workbench.trees.inlineAction(workbench.trees.row(/^Command ci: waits/), 'Answer…');
      await workbench.dialogs.dialog(/May "ci" of the workflow "piers" run this command/).waitFor();
    },
    hide: async ({ workbench }) => {
      await workbench.page.keyboard.press('Escape');
      await workbench.page.locator('.monaco-dialog-box').waitFor({ state: 'detached' });
    },
  },
  { name: 'library', scene: 'library' },
  {
    name: 'library-menu',
    scene: 'library',
    show: async ({ workbench }) => {
      await workbench.trees.row(/^Agent reviewer, built in/).click({ button: 'right' });
      await workbench.page.getByRole('menuitem', { name: 'Eject to Edit…', exact: true }).waitFor();
    },
    hide: async ({ workbench }) => workbench.page.keyboard.press('Escape'),
  },
  {
    name: 'library-new-workflow',
    scene: 'library',
    show: async ({ workbench }) => {
      await workbench.command('Pi Lanes: New Workflow…');
      await workbench.quickInput.row('Fix until Green').waitFor();
    },
    hide: cancelBox,
  },
  {
    name: 'library-empty',
    scene: 'bare',
    show: async ({ workbench }) => {
      await workbench.trees.closeView('Runs');
      await workbench.trees.openView('Library');
      await workbench.trees.row(/^New Workflow…/).waitFor();
    },
    hide: async ({ workbench }) => {
      await workbench.trees.closeView('Library');
      await workbench.trees.openView('Runs');
    },
  },
  {
    name: 'library-untrusted',
    scene: 'untrusted',
    show: async ({ workbench }) => {
      await workbench.trees.openView('Library');
      await workbench.trees.row(/^Workspace not trusted/).waitFor();
    },
    hide: async ({ workbench }) => workbench.trees.closeView('Library'),
  },
];

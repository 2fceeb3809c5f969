/** Worktrees. */
import type { ErrorText } from './error-text.ts';

export const WORKTREES = {
  'git_unusable:missing': {
    message: 'Git cannot be used: {reason}.',
    hint: 'Install git 2.25 or newer and see that it is on PATH.',
  },
  'git_unusable:old': {
    message: 'Git {version} is too old for worktrees.',
    hint: 'Install git 2.25 or newer and see that it is on PATH.',
  },
  git_failed: {
    message: '{command} failed: {reason}.',
    hint: 'Look at what `git status` says in that folder.',
  },
  'git_failed:timeout': {
    message: '{command} took longer than {seconds} seconds and was ended.',
    hint: 'A hook or a filter of the repository may hang: try the command in a terminal.',
  },
  'git_failed:cancelled': {
    message: '{command} was ended, because what it was for was stopped.',
  },
  'git_failed:locked': {
    message: '{command} failed, because another git holds a lock: {reason}.',
    hint: 'Wait for the other git. When none is running, remove the lock file.',
  },
  'git_failed:unproven': {
    message:
      '{command} was ended, and it could not be proven that it is gone. Nothing more is changed in this repository from here.',
    hint: 'Look for a git process that hangs, and end it.',
  },
  'worktree_refused:no-repository': {
    message: 'No worktree can be made for {children}: {folder} is in no git repository.',
    hint: 'Run it without a worktree, or choose a folder inside a checkout.',
  },
  'worktree_refused:unreadable': {
    message: 'No worktree can be made for {children}: git refuses {folder}: {reason}.',
    hint: 'Look at what `git status` says in that folder.',
  },
  'worktree_refused:bare': {
    message: 'No worktree can be made for {children}: {folder} is a bare repository, without files to work on.',
    hint: 'Start from a checkout of it: `git worktree add`.',
  },
  'worktree_refused:git-folder': {
    message: 'No worktree can be made for {children}: {folder} is inside a git folder.',
    hint: 'Run it without a worktree, or choose a folder inside a checkout.',
  },
  'worktree_refused:dirty': {
    message:
      'No worktree can be made for {children}: {folder} has changes that are not committed, which the worktree would not have: {files}.',
    hint: 'Commit or stash them, or run it without a worktree.',
  },
  'worktree_refused:unborn': {
    message: 'No worktree can be made for {children}: the branch of {folder} has no commit yet.',
    hint: 'Make a first commit, or run it without a worktree.',
  },
  'worktree_refused:base': {
    message: 'No worktree can be made for {children}: in {folder} there is no branch or tag "{ref}", or more than one.',
    hint: 'Name a branch, a tag or `HEAD`; `refs/heads/…` where a branch and a tag have the same name.',
  },
  'worktree_refused:other-folder': {
    message: 'No worktree can be made for {children}: it should work in {folder}, the others in {shared}.',
    hint: 'Leave the folder out, or start it on its own.',
  },
  'worktree_refused:inside-checkout': {
    message: 'No worktree can be made for {children}: the folder for worktrees, {path}, is inside {inside}.',
    hint: 'Choose a folder outside of the repository.',
  },
  'worktree_refused:inside-extensions': {
    message:
      'No worktree can be made for {children}: Pi would load what is in the folder for worktrees, {path}, as extensions, because it is inside {inside}.',
    hint: 'Choose a folder outside of the repository.',
  },
  'worktree_refused:unwritable': {
    message: 'No worktree can be made in {path}: {reason}.',
    hint: 'Make the folder writable, or choose another one for worktrees.',
  },
  worktree_failed: {
    message: 'The worktree {path} could not be made: {reason}. What there was of it was taken back.',
    hint: 'Look at what git says, and start it again.',
  },
  'worktree_failed:long-path': {
    message:
      'The worktree {path} could not be made, because a path in it is too long: {reason}. What there was of it was taken back.',
    hint: 'Choose a shorter folder for worktrees, or `git config --global core.longpaths true`.',
  },
  worktree_left: {
    message: '{what} could not be taken back: {reason}.',
    hint: 'By hand: `git worktree remove`, then `git branch -D`.',
  },
  worktree_hook_failed: {
    message: 'The worktree is whole, but a hook of the repository failed in it: {reason}',
    hint: 'Look at its `post-checkout` hook.',
  },
  worktree_lost: {
    message: 'The worktree {path} is not there as it was made: {reason}.',
    hint: 'Nothing was changed. Look at `git worktree list`.',
  },
  'worktree_lost:other': {
    message: 'At {path} there is another worktree than the one that was made there.',
    hint: 'Nothing was changed. Look at `git worktree list`.',
  },
  'worktree_preserved:nested': {
    message: 'The worktree stays: {path} in it is a repository of its own, whose commits are nowhere else.',
    hint: 'Move that folder to where it should be, then remove the worktree.',
  },
  'worktree_preserved:submodule': {
    message: 'The worktree stays: there is work in the submodule {path}: {reason}.',
    hint: 'Commit and push it there, then remove the worktree.',
  },
  'worktree_preserved:operation': {
    message: 'The worktree stays: git is in the middle of something there ({operation}).',
    hint: 'Finish or abort it in the worktree; `git status` there says how.',
  },
  'worktree_preserved:outside': {
    message: 'The worktree stays: {files} files that git ignores, {megabytes} MB, are too much to be copied.',
    hint: 'Delete what can be made again, or name it as disposable.',
  },
  'worktree_preserved:patch': {
    message: 'The worktree stays: its patch does not give the same files again.',
    hint: 'Take its files from the worktree, or from the commit that was kept.',
  },
  'worktree_preserved:copy': {
    message: 'The worktree stays: what was kept of it is not whole any more: {reason}.',
    hint: 'Start it again: it will be kept anew.',
  },
  'worktree_preserved:ref': {
    message: 'The worktree stays: {ref} does not keep its files and commits any more.',
    hint: 'Start it again: it will be kept anew.',
  },
  'worktree_preserved:changed': {
    message: 'The worktree {path} stays: something has changed in it since it was kept.',
    hint: 'Start it again: it will be kept anew.',
  },
  'worktree_preserved:locked': {
    message: 'The worktree {path} stays: it is locked. {reason}',
    hint: 'By hand: `git worktree unlock`, then `git worktree remove`.',
  },
  'worktree_preserved:failed': {
    message: 'The worktree {path} stays: {reason}.',
    hint: 'By hand: `git worktree remove`, then `git branch -D`.',
  },
  'worktree_refused:setup': {
    message: 'No worktree can be made: the setup hook {path} is no file, or only a name.',
    hint: 'Give an absolute path, one that begins with `~/`, or one from the root of the repository (`./setup.sh`).',
  },
  worktree_setup_failed: {
    message: 'The setup hook {path} failed: {reason}. The worktrees it was for were taken back.',
    hint: 'It must print one JSON object, `{ "syntheticPaths": [] }`, and exit with 0.',
  },
  'config_invalid:writers': {
    message: 'The variable PI_LANES_WRITERS is "{value}"; it can be "wait", "refuse" or "any".',
  },
  'launch_invalid:isolation': {
    message: '"isolation" is "{isolation}" and "worktree" is {worktree}: they say different things.',
    hint: 'Give only one of them.',
  },
  'launch_invalid:base-ref': {
    message: '"baseRef" cannot be "{ref}": {reason}.',
    hint: 'Name a branch or a tag, or leave it out for HEAD.',
  },
  'launch_invalid:base-alone': {
    message: '"baseRef" is "{ref}", but the child gets no worktree that could start there.',
    hint: 'Give it `worktree: true`, or leave "baseRef" out.',
  },
  'launch_invalid:worktree-resumed': {
    message: 'A child that is resumed goes on where it was, in {folder}: it cannot be given a worktree now.',
    hint: 'Leave "worktree" and "baseRef" out, or launch a new child.',
  },
  checkout_in_use: {
    message: 'In {folder} {owner} may change files (process {pid}), and two at once would work against each other.',
    hint: 'Wait until it has ended, run this one in a worktree of its own, or give it an agent that only reads.',
  },
  'checkout_in_use:unnamed': {
    message: 'In {folder} another agent may change files, and two at once would work against each other.',
    hint: 'Wait until it has ended, run this one in a worktree of its own, or give it an agent that only reads.',
  },
  'worktree_incomplete:submodules': {
    message: 'The submodules of this worktree are empty: {reason}',
    hint: 'Fill them by hand: `git submodule update --init` in the worktree.',
  },
  'worktree_incomplete:hooks': {
    message: 'Hooks are inactive in this worktree: core.hooksPath is {path}, and there is no such folder in it.',
    hint: 'Have a setup hook install them.',
  },
  'worktree_incomplete:budget': {
    message:
      '{files} files that were to be copied into the worktree are missing: together they have more than {megabytes} MB.',
    hint: 'Name fewer files.',
  },
  'worktree_preserved:uncaptured': {
    message: 'The worktree {path} stays: it is not kept as it is now.',
    hint: 'Start it again when its run has ended: it will be kept first.',
  },
  'worktree_preserved:handoff': {
    message: 'The worktree {path} stays: what is to be brought home could not be written down: {reason}.',
    hint: 'Make the folder of the run writable, and start it again.',
  },
  'worktree_preserved:users': {
    message: 'The worktree {path} stays: it is not proven that nobody works in it. Children: {children}.',
    hint: 'Let them end, or stop them.',
  },
  'worktree_preserved:missing': {
    message: 'Of the worktree {path} something is known, but its folder is not there.',
    hint: 'Put it back, or have git forget it by hand: `git worktree remove`.',
  },
  'worktree_preserved:replaced': {
    message: 'The worktree stays: at {path} there is no folder of its own.',
    hint: 'Nothing was changed. Look at `git worktree list`.',
  },
  'worktree_preserved:foreign': {
    message: 'The worktree {path} is not one that Pi Lanes has made: it is never touched.',
  },
  'worktree_preserved:resumable': {
    message: 'The worktree {path} stays: run {runId} was interrupted, and goes on in it when it is resumed.',
    hint: 'Resume the run, or stop it for good.',
    cli: 'Go on with the run by `pi-lanes resume RUN`, or end it for good by `pi-lanes stop RUN`.',
  },
  'worktree_preserved:unattested': {
    message: 'Nobody has recorded that the work in {path} was merged or superseded.',
    hint: 'It may go all the same when it is chosen: what is in it is kept.',
  },
  'worktree_preserved:other-now': {
    message: 'The worktree {path} stays: it is not as the plan says any more: {changes}.',
    hint: 'Make a new plan.',
  },
  'worktree_preserved:time': {
    message: 'The worktree {path} stays for now: the time was up before its turn.',
    hint: 'Apply the plan again.',
  },
  'apply_refused:conflict': {
    message: 'Nothing was applied: {count} file(s) contradict what is here: {files}.',
    hint: 'Apply the others with --files, or make a branch of it and merge that.',
  },
  'apply_refused:unknown': {
    message: 'The lane has changed nothing that is called {files}.',
    hint: 'Name files or folders as the forecast shows them.',
  },
  'apply_refused:changed': {
    message: 'Nothing was applied: {files} was changed at this moment.',
    hint: 'Try again.',
  },
  'apply_refused:left': {
    message: 'It was taken back, but for what somebody has changed since: {files}.',
    hint: 'Look at these files; all others are as they were.',
  },
  'apply_refused:undo': {
    message: 'Nothing was taken back: what was applied has been changed since: {files}.',
    hint: 'Put these files back as they were applied, or undo by hand.',
  },
  'apply_refused:unreadable': {
    message: 'What was applied before cannot be read: {path}: {reason}.',
    hint: 'Put that file aside, and look at `git status`.',
  },
  'apply_refused:repository': {
    message: '{folder} is no checkout of the repository that the work belongs to.',
    hint: 'Go to a checkout of {repository}.',
  },
  'apply_refused:itself': {
    message: '{folder} is the worktree that the work is in.',
    hint: 'Go to the checkout it is to come home to.',
  },
  'apply_refused:uncaptured': {
    message: 'The work of child {child} of {runId} is not kept yet.',
    hint: 'Wait for the end of its run.',
  },
  'apply_refused:nothing-to-undo': {
    message: 'In {folder} nothing was applied that could be taken back.',
  },
  'apply_refused:branch': {
    message: 'There is a branch {branch} already.',
    hint: 'Give another name.',
  },
  'apply_refused:branch-name': {
    message: 'No branch can be called "{branch}".',
    hint: 'Give another name.',
  },
  'apply_refused:no-change': {
    message: 'The child has changed nothing that could be brought home.',
  },
  'restore_refused:there': {
    message: 'The worktree {path} cannot be brought back: it was not removed, it is {state}.',
    hint: 'See `pi-lanes worktrees`.',
  },
  'restore_refused:path': {
    message: 'The worktree {path} cannot be brought back: something is there.',
    hint: 'Move it away, and try again.',
  },
  'restore_refused:registered': {
    message: 'The worktree {path} cannot be brought back: git has another one registered there, whose folder is gone.',
    hint: 'Have git forget that one by hand: `git worktree remove`.',
  },
  'restore_refused:branch': {
    message: 'The worktree cannot be brought back: there is a branch {branch} at {tip}, which is not where it stood.',
    hint: 'Rename that branch, and try again.',
  },
  'restore_refused:commits': {
    message: 'The worktree {path} cannot be brought back: its files and commits are not in {ref} any more.',
    hint: 'Its patch may still be there; see `pi-lanes worktrees`.',
  },
  'restore_refused:copy': {
    message: 'The worktree {path} cannot be brought back: what was kept of it is not whole any more: {folder}.',
    hint: 'Its commits may still be there; see `pi-lanes worktrees`.',
  },
  'restore_refused:worked': {
    message: 'Bringing back {path} was cut off, and somebody has worked in what is there since: it is left alone.',
    hint: 'Move your work away, remove that worktree by hand, and try again.',
  },
  'restore_refused:none': {
    message: 'Run {runId} has no worktree that could be meant.',
    hint: 'See `pi-lanes worktrees`.',
  },
  'restore_refused:several': {
    message: 'Run {runId} has several worktrees, and none was named: {keys}.',
    hint: 'Name one as RUN/KEY.',
  },
  'restore_incomplete:head': {
    message: 'The worktree {path} is back, but HEAD is not on the branch {branch}: {reason}.',
    hint: 'All of its files and commits are there; check out the branch you want.',
  },
  'cleanup_refused:missing': {
    message: 'There is no plan {planId}.',
    hint: 'Make one: `pi-lanes cleanup plan`.',
  },
  'cleanup_refused:expired': {
    message: 'The plan {planId} was made too long ago: it held until {expired}.',
    hint: 'Make a new one: `pi-lanes cleanup plan`.',
  },
  'cleanup_refused:damaged': {
    message: 'The plan {planId} is not as it was written: {reason}.',
    hint: 'Make a new one: `pi-lanes cleanup plan`.',
  },
  'cleanup_refused:entry': {
    message: 'The plan {planId} says nothing of "{wanted}".',
    hint: 'Name a branch, a path or RUN/CHILD as the plan shows them.',
  },
  'cleanup_refused:kept': {
    message: 'The plan {planId} keeps {path}: {reason}',
    hint: 'Only what a plan would remove can be chosen.',
  },
  'cleanup_refused:plan-only': {
    message: 'An agent can only ask for a plan (`mode: "plan"`); what a plan says is done by a person.',
    hint: 'Show the plan to the person, who applies it: `pi-lanes cleanup apply PLAN`.',
  },
  worktree_ledger_unreadable: {
    message: 'What is remembered of a worktree cannot be read: {path}: {reason}.',
    hint: 'Nothing was changed, and the worktree stays. Look at `git worktree list`.',
  },
  worktree_ledger_missing: {
    message: 'Nothing is remembered of a worktree of child {child} of run {runId}.',
    hint: 'See `pi-lanes worktrees`.',
  },
  worktree_in_removal: {
    message: 'Nobody can work in the worktree {path} any more: it is being removed, or is gone.',
    hint: 'Start a run with a worktree of its own.',
  },
  handoff_invalid: {
    message: 'What run {runId} has to hand over contradicts itself or cannot be read: {reason}.',
    hint: 'Its worktrees stay. See `pi-lanes worktrees`.',
  },
  lane_evidence_unreadable: {
    message: 'What was attested of a lane cannot be read: {path}: {reason}.',
    hint: 'Put the file aside and record it again.',
  },
  'lane_refused:active': {
    message: 'Nothing can be recorded about {runId}: not all of its children are proven to have ended.',
    hint: 'Wait for its end, or stop it.',
  },
  'lane_refused:none': {
    message: 'Nothing can be recorded about {runId}: it has no worktree to hand over.',
    hint: 'See `pi-lanes worktrees`.',
  },
  'lane_refused:other': {
    message: 'The lane {laneId} was named, and the manifest is that of {runId}.',
    hint: 'Name the run whose worktrees are meant.',
  },
  'lane_refused:itself': {
    message: '{runId} cannot be superseded by itself.',
    hint: 'Name the run that takes its place.',
  },
  'lane_refused:stale': {
    message: 'The merge that is recorded for {runId} was reviewed at {head}, not at {other}.',
    hint: 'See `pi-lanes lanes status {runId}`. What was recorded stays.',
  },
  'lane_refused:different': {
    message: 'Other evidence is recorded for {runId} already: {what}.',
    hint: 'See `pi-lanes lanes status {runId}`. What was recorded stays.',
  },
  'lane_refused:field': {
    message: 'The evidence cannot be recorded: {faults}.',
    hint: 'See `pi-lanes lanes --help`.',
  },
  'result_unsaved:whole': {
    message: 'The workflow is over, but {file} could not be written: {reason}',
    hint: 'See that a file can be written there, then continue the run: nothing that had ended is started again.',
    cli: 'See that a file can be written there, then use `pi-lanes continue RUN`: nothing that had ended is started again.',
  },
  'result_unsaved:workflow': {
    message: 'What {key} came to could not be kept for the script: {reason}',
    hint: 'Make the folder of the run writable, then continue it: what had ended is not started again.',
    cli: 'Make the folder of the run writable, then use `pi-lanes continue RUN`: what had ended is not started again.',
  },
} as const satisfies Record<string, ErrorText>;

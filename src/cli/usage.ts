/** What the command line can do, one part for each form of a command. `help` prints all of them, `--help` behind a command its own. */

interface Part {
  /** Nearly always one; several where one text has them all. */
  command: string;
  text: string;
  /** What only its own help says: it stands in another part. */
  alone?: string;
}

/** What `run` and `plan` take for an agent. */
const AGENT_OPTIONS = `\
      --task-file FILE     read the task from a file (- for standard input) instead of --task
      --model PROVIDER/ID  model, with :level for thinking; default: Pi's own default
      --thinking LEVEL     off minimal low medium high xhigh max
      --cwd FOLDER         where it works; default: this folder
      --worktree           in a git worktree of its own, made from there; what it has made is kept
      --base REF           branch or tag the worktree starts from; default: HEAD
      --label TEXT         a short name for lists
      --output FILE        also write the answer to this file
      --output-mode MODE   inline (default), or file-only: print the path instead of the answer
      --output-schema FILE  JSON schema of an object: the agent must answer with a value that fits it, as JSON
      --timeout SECONDS    end the run after this time; default 1800, 0 for no limit
      --tool-timeout SECONDS  end the run when one tool call takes longer
      --context MODE       fresh, fork (a copy of the parent's conversation), or profile: as the agent declares
      --approve            let Pi load this project's own extensions and settings`;

const PARTS: readonly Part[] = [
  {
    command: 'run',
    text: `\
  pi-lanes run --agent NAME --task TEXT [options]   start an agent
${AGENT_OPTIONS}
      --wait               wait for the end and print the answer`,
  },
  {
    command: 'run',
    text: `\
  pi-lanes run --script FILE [options]              run a workflow script (- for standard input)
      --args JSON          what the script finds in args
      --args-file FILE     read that from a file (- for standard input) instead of --args
      --allow-host GLOB    commands of the script that need no question (* stands for anything); may be repeated
      --max-spawns N       most children of the run; default 64
      --concurrency N      most children at the same time; default 20
      --max-tokens N       most tokens (input and output) of all children together; 0, and the default: no limit
      --max-cost DOLLARS   most that all children together may cost; 0, and the default: no limit
      --preflight FILE     JSON of what the script will do, shown before and compared afterwards; it changes nothing
      --output FILE        also write what the script returns to this file (say report.md); an agent that the script gives no
                           output writes its answer beside it (report.KEY.md)
      --worktree           each child in a worktree of its own, unless the script says otherwise
      --base REF           branch or tag that worktrees start from, unless the script says otherwise; default: HEAD
      --model, --cwd, --timeout (default: no limit), --approve, --wait`,
  },
  {
    command: 'run',
    text: `\
  pi-lanes run --workflow NAME [--args JSON] [options]
                                                    run a workflow that comes with Pi Lanes, and the commands it is made for:
      review               a reviewer; --args '{"task": "…"}'
      run-ci               npm test in --cwd; --args '{"command": "npm run typecheck", "timeoutMs": 60000}'
      --output, --max-tokens, --max-cost, --model, --cwd, --worktree, --base, --timeout (default: no limit), --approve, --wait`,
  },
  {
    command: 'continue',
    text: `\
  pi-lanes continue RUN [options]                   go on with a workflow that was lost, or that a limit has ended, as the same run;
                                                    what had ended is not started again. What is not named stays as it was:
      --timeout SECONDS    time limit of the whole run, with what is used up already; 0 for none
      --max-spawns N       most children of the whole run
      --concurrency N      most children at the same time
      --max-tokens N       most tokens of all children together; 0 for no limit
      --max-cost DOLLARS   most that all children together may cost; 0 for no limit
      --wait               wait for the end and print what the script returned`,
  },
  {
    command: 'status',
    text: `\
  pi-lanes status [RUN] [--all] [--limit N]         list runs, or show one; of a workflow with its agents, stages and commands`,
  },
  {
    command: 'transcript',
    text: `\
  pi-lanes transcript RUN [--child KEY] [--follow]  what the agent said and did`,
  },
  {
    command: 'stop',
    text: `\
  pi-lanes stop RUN [--child KEY]                   stop it, and prove that it stopped; with --child one agent of a workflow`,
  },
  {
    command: 'steer',
    text: `\
  pi-lanes steer RUN MESSAGE [--follow-up] [--child KEY]
                                                    say something to a working agent; prints the receipt`,
  },
  {
    command: 'answer',
    text: `\
  pi-lanes answer RUN [QUESTION] --value TEXT | --yes | --no | --cancel`,
  },
  {
    command: 'interrupt',
    text: `\
  pi-lanes interrupt RUN [--child KEY]              end its present work, keep its session; of a workflow with --child`,
  },
  {
    command: 'resume',
    text: `\
  pi-lanes resume RUN [--task TEXT] [--fork] [--cwd FOLDER] [--child KEY] [--wait]
                                                    continue a lost run, or go on with an ended one as a new run; with --child on the
                                                    session of one agent of a workflow; with --wait print the answer`,
  },
  {
    command: 'force-stop',
    text: `\
  pi-lanes force-stop RUN                           end a run whose runner does not answer`,
  },
  {
    command: 'cleanup',
    text: `\
  pi-lanes cleanup [--days N] [--dry-run]           remove runs that ended more than N days ago, of all projects; the
                                                    default is the setting (30); --dry-run says what stays, and why
  pi-lanes cleanup plan                             which worktrees of this project may go, why others stay, what each would lose and where
                                                    it is kept; the plan is saved and holds for half an hour; nothing is removed
  pi-lanes cleanup apply PLAN [--only WHAT]… [--timeout SECONDS]
                                                    remove what the plan has chosen, each as it is asked once more; --only chooses by branch,
                                                    path or RUN/CHILD instead; --timeout leaves the rest for later
  pi-lanes cleanup finish [--timeout SECONDS]       go on with what a death or a timeout has cut off; nothing new is removed`,
  },
  {
    command: 'worktrees',
    text: `\
  pi-lanes worktrees                                the worktrees of this project: how far each is ahead and behind, what it has
                                                    changed, how large it is, who uses it, what was kept of it, whether it may go;
                                                    nothing is changed`,
  },
  {
    command: 'apply',
    text: `\
  pi-lanes apply RUN[/KEY] [--files PATH]… [--forecast]
                                                    bring what an agent has changed into the checkout you are in: all of it, or the files
                                                    and folders named; nothing when one contradicts what is here; --forecast only shows
  pi-lanes apply --undo [ID]                        take back what was applied last, or the one with this id, as a whole`,
  },
  {
    command: 'branch',
    text: `\
  pi-lanes branch RUN[/KEY] NAME                    make a branch of what an agent has done; nothing is checked out`,
  },
  {
    command: 'discard',
    text: `\
  pi-lanes discard RUN[/KEY] [--yes]                say what would be lost for good with a worktree that no clean-up lets go; with --yes it
                                                    goes, and what can be kept is kept first`,
  },
  {
    command: 'restore',
    text: `\
  pi-lanes restore RUN[/KEY]                        bring back a worktree that was removed, with files, commits and what git did not have, as
                                                    long as its run is kept`,
  },
  {
    command: 'lanes',
    text: `\
  pi-lanes lanes status RUN                         what a run hands over, what is attested about it, and whether its worktrees may go:
      terminal-eligible    its work is attested as merged, with the reviewed files and recorded checks: they may
      superseded-eligible  the work of another run is attested to have taken its place: they may
      terminal-blocked     they may not, for the reason that is told; nothing attested is one
      active               not yet: not all of its agents are proven to have ended
      unknown              it has handed over no worktrees, or what is known of them cannot be read
                                                    That they may go removes nothing.
  pi-lanes lanes conflicts RUN                      which of its agents have changed the same files, and whether that goes together
  pi-lanes lanes record-merge RUN --pr N --reviewed-head HASH --merge-commit HASH --by NAME [options]
                                                    attest that its work was merged:
      --tree-equivalent X  whether the merged files are the reviewed ones: true, false, or unknown (default)
      --checks X           checks after the merge: recorded, or unknown (default)
      --at TIME            when that was; default: now
  pi-lanes lanes record-supersession RUN --superseded-by RUN --by NAME [--at TIME]
                                                    attest that the work of another has taken its place`,
  },
  {
    command: 'agents',
    text: `\
  pi-lanes agents [--capabilities] [--scope user|project|both]
                                                    the agents there are for this folder, and what is wrong with their files
  pi-lanes agents NAME                              one of them: each field, and where its value comes from
  pi-lanes agents show NAME                         the same of an agent that is called like one of these words
  pi-lanes agents create NAME --description TEXT [--set FIELD=VALUE]… [--prompt-file FILE]
  pi-lanes agents import FILE                       create one from an agent of Claude Code (.claude/agents/*.md); says what is not taken over
  pi-lanes agents update NAME [--description TEXT] [--set FIELD=VALUE]… [--prompt-file FILE]
                                                    FIELD= takes a field away; --set name=NEW renames it
  pi-lanes agents delete NAME                       remove an agent of your own
  pi-lanes agents eject NAME                        copy one that comes with a package or with Pi Lanes, to change it
  pi-lanes agents reset NAME                        remove your copy of one that comes with a package or with Pi Lanes, and its settings
      --scope user|project  of all these; default: the only one that can be meant, and the user for what is new
  pi-lanes agents disable|enable NAME [--scope user|project]
                                                    in Pi's settings; without --scope in those that disable it, else the
                                                    project's for its own agents, the user's for all others
  pi-lanes agents undo                              take back the latest of these changes`,
  },
  {
    command: 'plan',
    text: `\
  pi-lanes plan --agent NAME --task TEXT [options]  what \`run\` with the same options would start: models, tools, prompt, limits; nothing is
                                                    started or written`,
    alone: AGENT_OPTIONS,
  },
  {
    command: 'models',
    text: `\
  pi-lanes models [NAME]                            the models that Pi can use now, or which of them NAME means
      --include NAME       use a model again that is left out because its provider failed; "*" for all`,
  },
  {
    command: 'profiles',
    text: `\
  pi-lanes profiles [list | show NAME | check [NAME] | load NAME]
                                                    which models agents get: profiles there are, one of them, what is wrong with them; load
                                                    puts one into Pi's settings, in the place of the overrides there; pi-lanes agents
                                                    undo takes that back
  pi-lanes profiles refresh [--provider NAME]       ask which models there are, and each for a word: 4 at a time, without tools
      --force              also those that answered within the last 7 days
      --no-probe           ask none of them for a word
  pi-lanes profiles generate quota|quality [NAME]   make a profile of the models that answer; quota spares, quality does not`,
  },
  {
    command: 'validate',
    text: `\
  pi-lanes validate FILE… [--max-spawns N]          check workflow scripts (- for standard input); nothing is started`,
  },
  {
    command: 'doctor',
    text: `\
  pi-lanes doctor                                   check Node, Pi, models and folders`,
  },
  {
    command: 'install-pi',
    text: `\
  pi-lanes install-pi [--yes]                       install Pi for Pi Lanes alone, through npm; asks first`,
  },
];

const RUN_WORDS = `\
  RUN is an id, the beginning or end of one (8 characters or more), or "last".`;
const CHILD_WORDS = `\
  KEY is the key of an agent in its workflow, or its own run id; \`pi-lanes status RUN\` lists them.`;
const JSON_WORDS = `\
  --json prints one JSON object with "schemaVersion"; fields are only ever added.`;
const DASH_WORDS = `\
  A text that begins with "-" stands behind "--": pi-lanes steer last -- "-v, please".`;
const EXIT_WORDS = `\
  Exit codes: 0 done; 1 the run failed or its --output could not be written, doctor or validate found an error, or a part of the store could
  not be read (status --all) or cleaned (cleanup); 2 refused; 3 stopped or lost; 130 waiting interrupted (the run goes on).`;

const HELP_WORDS = `\
  \`pi-lanes help COMMAND\` or \`pi-lanes COMMAND --help\` shows one command.`;

export const USAGE = `pi-lanes — run Pi coding agents that outlive the window they were started from

${PARTS.map(({ text }) => text).join('\n')}

${[HELP_WORDS, RUN_WORDS, CHILD_WORDS, JSON_WORDS, DASH_WORDS, EXIT_WORDS].join('\n')}`;

/** Every command, as it is typed. */
export const COMMANDS: readonly string[] = [...new Set(PARTS.map(({ command }) => command))];

/** Whether the first word behind a command is a run. */
export function takesRun(command: string): boolean {
  return PARTS.some(({ text }) => new RegExp(`^ +pi-lanes ${command} \\[?RUN\\b(?!\\[/)`).test(text));
}

/** The part of the usage that is about one command, with what its words mean; `undefined`: there is no such command. */
export function usageOf(command: string): string | undefined {
  const own = PARTS.filter((part) => part.command === command).map(({ text, alone }) =>
    alone === undefined ? text : `${text}\n${alone}`,
  );
  if (own.length === 0) return undefined;
  const text = own.join('\n');
  const notes = [
    ...(/\bRUN\b/.test(text) ? [RUN_WORDS] : []),
    ...(text.includes('--child KEY') ? [CHILD_WORDS] : []),
    JSON_WORDS,
    ...(text.includes('MESSAGE') ? [DASH_WORDS] : []),
    EXIT_WORDS,
  ];
  return `${text}\n\n${notes.join('\n')}`;
}

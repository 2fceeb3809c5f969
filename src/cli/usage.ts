export const USAGE = `pi-lanes — run Pi coding agents that outlive the window they were started from

  pi-lanes run --agent NAME --task TEXT [options]   start an agent
      --task-file FILE     read the task from a file (- for standard input) instead of --task
      --model PROVIDER/ID  model, with :level for thinking; default: Pi's own default
      --thinking LEVEL     off minimal low medium high xhigh max
      --cwd FOLDER         where it works; default: this folder
      --label TEXT         a short name for lists
      --output FILE        also write the answer to this file
      --output-mode MODE   inline (default), or file-only: print the path instead of the answer
      --output-schema FILE  JSON schema of an object: the agent must answer with a value that fits it, as JSON
      --timeout SECONDS    end the run after this time; default 1800, 0 for no limit
      --tool-timeout SECONDS  end the run when one tool call takes longer
      --approve            let Pi load this project's own extensions and settings
      --wait               wait for the end and print the answer
  pi-lanes run --script FILE [options]              run a workflow script (- for standard input)
      --args JSON          what the script finds in args
      --allow-host GLOB    commands of the script that need no question (* stands for anything); may be repeated
      --max-spawns N       most children of the run; default 64
      --concurrency N      most children at the same time; default 20
      --model, --cwd, --timeout (default: no limit), --approve, --wait
  pi-lanes status [RUN] [--all] [--limit N]         list runs, or show one
  pi-lanes transcript RUN [--follow]                what the agent said and did
  pi-lanes stop RUN                                 stop it, and prove that it stopped
  pi-lanes steer RUN MESSAGE [--follow-up]          say something to a working agent; prints the receipt
  pi-lanes answer RUN [QUESTION] --value TEXT | --yes | --no | --cancel
  pi-lanes interrupt RUN                            end its present work, keep its session
  pi-lanes resume RUN [--task TEXT] [--fork] [--cwd FOLDER]
                                                    continue a lost run, or go on with an ended one as a new run
  pi-lanes force-stop RUN                           end a run whose runner does not answer
  pi-lanes cleanup [--days N] [--dry-run]           remove runs that ended more than N days ago, of all projects; the
                                                    default is the setting (30); --dry-run says what stays, and why
  pi-lanes agents [--capabilities] [--scope user|project|both]
                                                    the agents there are for this folder, and what is wrong with their files
  pi-lanes validate FILE… [--max-spawns N]          check workflow scripts (- for standard input); nothing is started
  pi-lanes doctor                                   check Node, Pi, models and folders
  pi-lanes install-pi [--yes]                       install Pi for Pi Lanes alone, through npm; asks first

  RUN is an id, the beginning or end of one (8 characters or more), or "last".
  --json prints one JSON object with "schemaVersion"; fields are only ever added.
  A text that begins with "-" stands behind "--": pi-lanes steer last -- "-v, please".
  Exit codes: 0 done; 1 the run failed or its --output could not be written, doctor or validate found an error, or a part of the store could
  not be read (status --all) or cleaned (cleanup); 2 refused; 3 stopped or lost; 130 waiting interrupted (the run goes on).`;

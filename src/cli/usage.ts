export const USAGE = `pi-lanes — run Pi coding agents that outlive the window they were started from

  pi-lanes run --agent NAME --task TEXT [options]   start an agent
      --task-file FILE     read the task from a file (- for standard input) instead of --task
      --model PROVIDER/ID  model, with :level for thinking; default: Pi's own default
      --thinking LEVEL     off minimal low medium high xhigh max
      --cwd FOLDER         where it works; default: this folder
      --label TEXT         a short name for lists
      --approve            let Pi load this project's own extensions and settings
      --wait               wait for the end and print the answer
  pi-lanes status [RUN] [--all] [--limit N]         list runs, or show one
  pi-lanes transcript RUN [--follow]                what the agent said and did
  pi-lanes stop RUN                                 stop it, and prove that it stopped
  pi-lanes agents                                   the agents there are
  pi-lanes doctor                                   check Node, Pi, models and folders

  RUN is an id, the beginning or end of one (4 characters or more), or "last".
  --json prints one JSON object with "schemaVersion"; fields are only ever added.
  Exit codes: 0 done, 1 the run failed, 2 refused, 3 stopped or lost, 130 waiting interrupted (the run goes on).`;

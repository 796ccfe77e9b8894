/**
 * Verbs and flags that people bring along from Conductor and from other tools, and what is written here.
 *
 * Source: CONDUCTOR-YAML 1.11 (`templates`, `-V` and `init` were removed there; `init` is a verb here).
 */
const VERBS: Readonly<Record<string, string>> = {
  templates: "splashdown init writes a sample workflow; there are no others to choose from",
  status: "write splashdown list",
  gate: "write splashdown answer TASK VALUE",
  models: "splashdown doctor --models asks every provider that is set up here, and names the others",
  providers: "splashdown doctor --models asks every provider that is set up here, and names the others",
  interrupt: "write splashdown pause TASK, or splashdown guide TASK TEXT to say something without stopping it",
  replay: "write splashdown debug replay --checkpoint=ID",
  registry: "workflows are files: name one by its path",
  plugin: "plugins are not loaded; a workflow's tools stand in its file",
  update: "npm brings a newer version",
  ls: "write splashdown list",
  ps: "write splashdown list",
  log: "write splashdown logs TASK",
  tail: "write splashdown logs TASK --follow",
  watch: "write splashdown attach TASK, or splashdown list --watch",
  start: "write splashdown run FILE",
  retry: "write splashdown resume TASK",
  continue: "write splashdown resume TASK",
  cancel: "write splashdown stop TASK",
  kill: "write splashdown stop TASK",
  rm: "write splashdown store remove TASK",
  delete: "write splashdown store remove TASK",
  approve: "write splashdown answer TASK VALUE",
  costs: "write splashdown metrics",
};

const BACKGROUND =
  "there is no dashboard; run --detach works in the background, splashdown events TASK --follow shows it";
const IN_FILE = "they stand in the file, as workflow.instructions";

const FLAGS: Readonly<Record<string, string>> = {
  "-V": "write --verbose, or --version for the version",
  "-q": "write --quiet",
  "-s": "write --quiet, and --json for the answer alone",
  "--silent": "write --quiet, and --json for the answer alone",
  "-i": "write --input",
  "-p": "write --provider",
  "--web": BACKGROUND,
  "--web-bg": BACKGROUND,
  "--web-port": BACKGROUND,
  "-l": "every event is kept with the task: splashdown events TASK",
  "--log-file": "every event is kept with the task: splashdown events TASK",
  "--no-interactive": "nothing is asked without a terminal; --skip-gates takes the defaults of gates",
  "-m": "metadata stands in the file, under workflow",
  "--metadata": "metadata stands in the file, under workflow",
  "--instructions": IN_FILE,
  "--workspace-instructions": IN_FILE,
};

/** What is written here instead of a verb or flag that there is not; `undefined` when nobody knows. */
export function suggestForWord(kind: "command" | "option", word: string): string | undefined {
  const input = /^--input\.([^=]+)/.exec(word)?.[1];
  if (kind === "option" && input !== undefined) return `write --input ${input}=VALUE`;
  const table = kind === "command" ? VERBS : FLAGS;
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/**
 * The closed table of error codes: meaning, exit status, retryable, hint.
 *
 * The first word of a code is its area. A hint is the next command to type; `{name}` stands for a detail of the error, ` {name?}` for one that may be left out.
 * Exit statuses are those of the command line's help. A test walks this table: every code is documented, raised, and
 * has a hint and a status.
 */

export interface ErrorTableEntry {
  readonly meaning: string;
  readonly exitStatus: number;
  readonly retryable: boolean;
  readonly hint: string;
}

/** Exit statuses of the command line, by name. Source: DESIGN section 10. */
export const EXIT_STATUS = {
  done: 0,
  unexpected: 1,
  usage: 2,
  partial: 3,
  failed: 4,
  notFound: 10,
  owned: 11,
  key: 12,
  damaged: 13,
  exhausted: 14,
  tampered: 15,
  personNeeded: 20,
  limit: 21,
  unknown: 22,
  pausedUntil: 75,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

const entry = (exitStatus: number, meaning: string, hint: string): ErrorTableEntry => ({
  meaning,
  exitStatus,
  retryable: false,
  hint,
});
/** For what may go well at a later try. */
const passing = (exitStatus: number, meaning: string, hint: string): ErrorTableEntry => ({
  ...entry(exitStatus, meaning, hint),
  retryable: true,
});

const S = EXIT_STATUS;

export const ERROR_TABLE = {
  INTERNAL: entry(
    S.unexpected,
    "a mistake of ours; the stack says where",
    "report this with the output of: splashdown doctor --json",
  ),
  CANCELLED: passing(S.interrupted, "the work was cancelled by a signal or a request", "splashdown resume {task?}"),

  USAGE_INVALID: entry(S.usage, "a flag, an argument or their combination is not valid", "splashdown {verb?} --help"),
  INPUT_INVALID: entry(
    S.usage,
    "an input of the workflow is missing or has the wrong type",
    "splashdown validate {file}",
  ),
  FOLDER_NOT_TRUSTED: entry(
    S.usage,
    "the folder's settings file names programs, keys, stores or packages, and nobody has trusted it",
    "look at {file}, then: splashdown trust {folder}",
  ),
  SETTING_INVALID: entry(S.usage, "a setting has an unknown key or a wrong value", "splashdown config show"),
  WORKFLOW_INVALID: entry(
    S.usage,
    "the workflow file has faults; each is named with line and column",
    "splashdown validate {file}",
  ),
  WORKFLOW_NOT_FOUND: entry(
    S.notFound,
    "the workflow file does not exist or cannot be read",
    "check the path, then: splashdown validate {file}",
  ),
  WORKFLOW_MODULE: entry(
    S.usage,
    "the workflow is a module, which runs code when it is read, and agents may not have it run",
    "write the workflow as YAML, or start the server with: splashdown mcp --allow-modules",
  ),
  WORKFLOW_OUTSIDE: entry(
    S.usage,
    "the workflow file is not below the folder that agents may run files of",
    "splashdown mcp --root FOLDER",
  ),
  WORKFLOW_MISMATCH: entry(
    S.usage,
    "a task of that name was started with another definition or other inputs",
    "splashdown run {file} --new",
  ),
  TEMPLATE_FAILED: entry(
    S.failed,
    "a template names something that does not exist or exceeds its limits",
    "splashdown validate {file}",
  ),
  TASK_NOT_FOUND: entry(S.notFound, "no task has that name, id or workflow name", "splashdown list"),
  TASK_AMBIGUOUS: entry(S.usage, "several tasks fit; an acting verb needs one", "splashdown list"),
  TASK_NAME_INVALID: entry(
    S.usage,
    "the task name cannot be a folder name",
    "use letters, digits, dot, dash and underscore, at most 64 bytes",
  ),
  TASK_NOT_STARTED: entry(
    S.usage,
    "the task's first process died before anything was recorded",
    "splashdown run {file} --task {task}",
  ),
  PROCESSES_TOO_MANY: passing(
    S.owned,
    "the MCP server has begun as many processes as it may have at one time",
    "wait for a task to end, or start this one by hand: splashdown run {file?}",
  ),
  CALLS_TOO_MANY: passing(
    S.usage,
    "an agent has as many calls under way as one connection may have",
    "wait for one of them to be answered, then call again",
  ),
  INSIDE_STEP: entry(
    S.personNeeded,
    "a step of a task asks for what only a person may do: answer, resume, stop, change keys, remove",
    "in a terminal of your own: splashdown show {task?}",
  ),
  TASK_NOT_RUNNING: entry(S.usage, "the request needs a running task", "splashdown resume {task}"),
  CHECKPOINT_NOT_FOUND: entry(
    S.notFound,
    "no checkpoint has that id, sequence, phase or file name",
    "splashdown checkpoints list {task?}",
  ),
  CHECKPOINT_AMBIGUOUS: entry(S.usage, "several checkpoints fit", "splashdown checkpoints list {task?}"),
  STEP_NOT_FOUND: entry(S.notFound, "no step of the task has that identity, path or name", "splashdown show {task}"),
  QUESTION_NOT_FOUND: entry(S.notFound, "no open question has that id", "splashdown show {task}"),
  DASHBOARD_REFUSED: entry(S.usage, "the dashboard does not serve this request", "splashdown dashboard"),
  QUESTION_CLOSED: entry(S.usage, "the question has been answered already", "splashdown show {task}"),
  ANSWER_INVALID: entry(S.usage, "the answer is not one of the options", "splashdown show {task}"),
  ANSWER_NOT_ALLOWED: entry(
    S.personNeeded,
    "an agent may not answer questions here; a person does, or lets it: splashdown mcp --allow-answers",
    "splashdown answer {task} {question} {answer}",
  ),

  OWNER_ALIVE: passing(S.owned, "a living process owns the task", "splashdown attach {task}"),
  OWNER_UNCLEAR: entry(S.owned, "it is unclear whether the task's owner lives", "splashdown resume {task} --take-over"),
  OWNER_SUPERSEDED: entry(S.owned, "another process has claimed the task since", "splashdown show {task}"),

  KEY_MISSING: entry(
    S.key,
    "no configured source gives a key that this data was sealed with",
    "splashdown keys show {task?}",
  ),
  KEY_WRONG: entry(
    S.key,
    "the configured key or passphrase is not the one this data was sealed with",
    "splashdown keys show {task?}",
  ),
  KEY_SOURCE_INVALID: entry(
    S.key,
    "a key source is malformed, readable by others, or its command failed",
    "splashdown keys show",
  ),
  KEY_NOT_CREATED: entry(
    S.key,
    "no key is configured and none may be made here",
    "splashdown keys init --key-file PATH",
  ),
  KEY_NOT_TRIED: entry(
    S.key,
    "a passphrase or key command is not tried for a task that this machine has not opened before, until it is named",
    "splashdown show {task}",
  ),
  KEY_SLOT_NOT_FOUND: entry(S.notFound, "nothing of that name opens the task", "splashdown keys show {task?}"),
  KEY_LOCKED_OUT: entry(
    S.usage,
    "the change would lock somebody out; nothing was changed",
    "splashdown keys show {task?}",
  ),
  REENCRYPT_REFUSED: entry(
    S.usage,
    "the task cannot be sealed again as it stands; nothing was changed",
    "splashdown show {task}",
  ),
  KEYRING_FULL: entry(
    S.usage,
    "the task has as many generations of its key as a keyring holds",
    "splashdown keys rotate {task?} --task-key --reencrypt",
  ),
  KEYRING_MISSING: entry(
    S.key,
    "the task is sealed and its keyring files are gone; without one of them nothing opens it",
    "put a keyring file back from a copy, then: splashdown keys verify {task?}",
  ),
  KEY_SHREDDED: entry(
    S.key,
    "the keys of the task were destroyed on request; nobody can read it any more",
    "splashdown audit show",
  ),
  BUNDLE_CORRUPT: entry(
    S.damaged,
    "a bundle is damaged or was made by no export of ours",
    "splashdown checkpoints export --help",
  ),
  BUNDLE_TOO_LARGE: entry(
    S.usage,
    "a bundle is over its limits of size or number of files",
    "splashdown checkpoints prune {task?} --history",
  ),
  IMPORT_UNFINISHED: entry(
    S.damaged,
    "the task was being imported or copied, and that was interrupted",
    "import or copy it again: it starts again by itself",
  ),
  KEYRING_CORRUPT: entry(S.damaged, "a keyring file is damaged", "splashdown keys verify {task?}"),
  KEYRING_TAMPERED: entry(
    S.tampered,
    "a keyring's checksum fits, but its content is not ours",
    "splashdown keys verify {task?}",
  ),

  KEYRING_ROLLED_BACK: entry(
    S.tampered,
    "the keyring is older than one that was in force: what was taken away since would open the task again",
    "put the newer keyring files back; if the older ones are meant: splashdown keys accept {task}",
  ),
  KEYRING_UNPROVEN: entry(
    S.tampered,
    "nothing proves that one of its owners locked the task: anybody can lock for a public recipient",
    "if you know where it comes from: splashdown keys accept {task}",
  ),
  KEYRING_FOREIGN: entry(
    S.tampered,
    "the task has another first key than this machine has seen it with: it is not the same task",
    "if you know where it comes from: splashdown keys accept {task}",
  ),

  STORE_FULL: passing(
    S.failed,
    "the disk is full or over quota; what was there is kept",
    "free some space {room?}, then: splashdown resume {task}",
  ),
  STORE_UNWRITABLE: entry(S.failed, "the store cannot be written (read-only, permissions)", "splashdown doctor"),
  STORE_FAILED: passing(S.failed, "the storage reported an I/O error twice", "splashdown doctor"),
  STORE_BUSY: passing(
    S.failed,
    "out of file descriptors or locked files for longer than the retry limit",
    "splashdown doctor",
  ),
  STORE_UNREACHABLE: passing(
    S.failed,
    "the database cannot be reached or ended the connection; what it acknowledged is kept",
    "splashdown doctor",
  ),
  STORE_UNSAFE: entry(
    S.failed,
    "the folder is a link, belongs to someone else or is writable by others",
    "splashdown doctor",
  ),
  STORE_UNSUPPORTED: entry(S.usage, "the store address names no store that exists here", "splashdown config show"),
  SEGMENT_DEAD: passing(S.failed, "a segment that failed once takes no more lines", "splashdown resume {task}"),

  FORMAT_NOT_OURS: entry(
    S.damaged,
    "the file is not one of ours",
    "splashdown debug validate-checkpoint --file={file}",
  ),
  FORMAT_VERSION: entry(
    S.damaged,
    "the file was written by a newer version or has no version",
    "update splashdown, then try again",
  ),
  CHECKPOINT_TRUNCATED: entry(S.damaged, "the checkpoint file is shorter than its format", "splashdown resume {task}"),
  CHECKPOINT_CORRUPT: entry(
    S.damaged,
    "the checkpoint file does not match its own checksum or form",
    "splashdown resume {task}",
  ),
  CHECKPOINT_TAMPERED: entry(
    S.tampered,
    "the checksum fits and the key is right, but the content is not ours",
    "splashdown checkpoints list {task?}",
  ),
  JOURNAL_CORRUPT: entry(
    S.damaged,
    "records of the journal are damaged beyond repair",
    "splashdown resume {task} --accept-loss",
  ),
  JOURNAL_MISSING: entry(
    S.damaged,
    "the journal is empty or gone, and nothing else holds the task's state",
    "put the folder back from a copy, or let the task go: splashdown store remove {task}",
  ),
  JOURNAL_TAMPERED: entry(S.tampered, "a record's checksum fits but its seal does not", "splashdown doctor"),
  BLOB_CORRUPT: entry(
    S.damaged,
    "a large value's file is damaged or missing",
    "put the file back from a copy, or go back before the step that made it: splashdown resume {task} --from CHECKPOINT",
  ),
  SEAL_BROKEN: entry(S.tampered, "a sealed file's tag does not fit: its content is not ours", "splashdown doctor"),
  AUDIT_TAMPERED: entry(
    S.tampered,
    "a file of the audit trail was changed, removed or put in another place",
    "splashdown audit verify {task?}",
  ),
  SEAL_MISSING: entry(S.tampered, "plain data stands where sealed data is demanded", "splashdown config show"),
  TASK_ROLLED_BACK: entry(
    S.tampered,
    "the task's folder is older than what this machine has acknowledged",
    "splashdown resume {task} --accept-loss",
  ),
  TASK_SWAPPED: entry(
    S.tampered,
    "a file belongs to another task or to another place in the chain",
    "splashdown checkpoints list {task?}",
  ),
  TASK_TWIN: entry(
    S.tampered,
    "the task is in two places of this machine, and is continued in the other one alone",
    "continue there, or remove it there; only where it is to live here from now on: splashdown resume {task} --here",
  ),
  TASK_DISPLACED: entry(
    S.tampered,
    "the task lies in the place of another one",
    "give the folder its name back; only where that name is right: splashdown resume {task} --here",
  ),
  TASK_NEW_HERE: entry(
    S.personNeeded,
    "this machine never ran the task, or it has another name by now, and nobody named it",
    "splashdown resume {task}",
  ),
  RECOVERY_TIMEOUT: passing(
    S.exhausted,
    "recovery took longer than recovery_timeout_seconds",
    "splashdown resume {task}",
  ),

  VALUE_UNSUPPORTED: entry(
    S.failed,
    "a value cannot be stored without loss; its path is named",
    "return plain JSON, dates, maps, sets or bytes",
  ),
  VALUE_TOO_LARGE: entry(S.failed, "a value is over a stated limit", "return less, or the name of a file"),
  VALUE_TOO_DEEP: entry(S.failed, "a value is nested too deep or has too many nodes", "return a flatter value"),

  STEP_FAILED: entry(S.failed, "a step ended with an error", "splashdown show {task}"),
  STEP_TIMEOUT: passing(S.failed, "a step ran longer than its limit and was ended", "splashdown show {task}"),
  STEP_OUTPUT_INVALID: entry(
    S.failed,
    "a step's output is not what its definition or protocol demands",
    "splashdown show {task}",
  ),
  ITEMS_INVALID: entry(
    S.failed,
    "the source of a for_each gives no list, too many items or a key that is too long",
    "splashdown show {task}",
  ),
  SUBSTEP_MISMATCH: entry(
    S.failed,
    "a function went another way than before a crash or a retry: sub-steps that were done were left out",
    "splashdown show {task}",
  ),
  STEP_UNKNOWN: entry(S.unknown, "it is unknown whether a step has acted", "splashdown show {task}"),
  PROGRAM_NOT_FOUND: entry(S.failed, "the program of a command step does not exist", "splashdown doctor"),
  FUNCTIONS_ELSEWHERE: entry(S.usage, "a program has the functions of the task", "run the program again ({workflow})"),
  FUNCTION_NOT_FOUND: entry(S.usage, "the function of a step cannot be loaded", "splashdown validate {file}"),
  MODEL_FAILED: passing(S.failed, "a model call failed", "splashdown show {task}"),
  HTTP_REDIRECT_REFUSED: entry(
    S.failed,
    "a server redirects a request to another origin, or to a GET that is not the request; nothing was sent there",
    "if that place may have what the request carries, write its address into the file, then: splashdown resume {task}",
  ),
  HTTP_RATE_LIMITED: passing(S.pausedUntil, "a server asks to wait", "splashdown resume {task}"),
  MODEL_RATE_LIMITED: passing(S.pausedUntil, "the model provider asks to wait", "splashdown resume {task}"),
  MODEL_UNAVAILABLE: entry(
    S.usage,
    "the model provider named by a step cannot be asked here: unknown, or without address, key or package",
    "splashdown doctor --models",
  ),
  TOOL_SERVER_FAILED: passing(
    S.failed,
    "a tool server cannot be started or reached, broke off, or does not speak the protocol",
    "splashdown show {task}",
  ),
  TOOL_UNAVAILABLE: entry(
    S.usage,
    "a step names a tool that no server has, or a server needs a variable that is not set",
    "splashdown validate {file}",
  ),
  TOOL_FAILED: entry(S.failed, "a tool says that it failed; the model is told", "splashdown show {task}"),
  CHECKPOINT_FAILED: passing(S.failed, "a checkpoint could not be saved", "splashdown doctor"),
} as const satisfies Record<string, ErrorTableEntry>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Every limit of the project in one table. Sizes in bytes, times in milliseconds, unless the name says otherwise. */
export const LIMITS = {
  /** Nesting and size of one stored value. Source: STORAGE 1.10. */
  valueDepthMax: 200,
  valueNodesMax: 1_000_000,
  /** A value of this size or more becomes a sealed blob. */
  blobThresholdBytes: 256 * 1024,
  blobChunkBytes: 64 * 1024,
  /** Loaded large values that a running task keeps at hand. */
  blobCacheBytesMax: 64 * 1024 * 1024,
  /** The largest output one step may return; over it the step fails with VALUE_TOO_LARGE and is not retried. */
  stepOutputBytesMax: 64 * 1024 * 1024,
  /** What one step may change in the channel: it is in its completion, and the channel is in memory. */
  channelChangesBytesMax: 16 * 1024 * 1024,
  /** Steps that steps of one group may add to it while the task runs; each is in the state of the task. */
  addedStepsMax: 1_000,
  /** Error texts are cut to this before they become events. */
  errorTextBytesMax: 16 * 1024,
  stderrTailBytes: 16 * 1024,
  /** What a script step keeps of stderr: the last part of it. */
  scriptStderrBytesMax: 1024 * 1024,
  /** A child's input up to this is handed over as a file in memory, a larger one through a pipe. */
  inputFileBytesMax: 8 * 1024 * 1024,
  /** How long a probe may take before its answer is "I do not know". */
  probeTimeoutMs: 60_000,
  /** One call of a model, and silence in it, where nothing else is said. */
  modelCallTimeoutMs: 30 * 60_000,
  modelIdleTimeoutMs: 5 * 60_000,
  /** Turns of one model step, where nothing else is said. */
  modelTurnsMax: 50,
  /** Repairs of a malformed answer, where nothing else is said. */
  /** An answer that was cut at its limit of tokens is continued this often. */
  modelContinuationsMax: 4,
  modelRepairsMax: 2,
  /** Of a malformed answer, what the model is shown again. */
  modelRepairCharsMax: 20_000,
  /** Of a tool's result, what the model is shown; the whole stays in the history. */
  toolTextCharsMax: 50_000,
  /** A tool server's start, its list of tools, and its end when the task is over. */
  toolServerStartMs: 30_000,
  toolServerGraceMs: 2_000,
  toolsPerServerMax: 500,
  /** One call of a server's tool without a sign of progress, where the file says nothing else. */
  toolCallTimeoutMs: 5 * 60_000,
  /** One call of a server's tool that tells its progress again and again. */
  toolCallTotalMs: 24 * 3_600_000,
  toolMessageBytesMax: 16 * 1024 * 1024,
  /** Lines of a server's output that are no messages, before it is given up. */
  toolStrangeLinesMax: 100,
  /** Tasks of a workflow whose measured confidence is kept, and specialists and bytes of one. */
  calibrationTasksMax: 50,
  calibrationClaimsMax: 1000,
  calibrationFileBytesMax: 1024 * 1024,
  /** A provider that asks for a longer wait is asked again after this. */
  retryAfterMsMax: 31 * 24 * 3_600_000,
  /** One line of the JSON-lines protocol on descriptor 3. */
  protocolLineBytesMax: 1024 * 1024,
  /** Any file that belongs to a workflow; long texts are put in with `!file`. */
  workflowFileBytesMax: 10 * 1024 * 1024,
  /** One file that is read as YAML or JSON: more could take longer than a second. */
  workflowYamlBytesMax: 1024 * 1024,
  workflowDepthMax: 100,
  workflowNodesMax: 200_000,
  /** Lexical parts of a workflow or settings file; more would take longer than a second to read. */
  workflowTokensMax: 300_000,
  /** Workflows within each other. Source: CONDUCTOR-YAML 1.4. */
  workflowNestingMax: 10,
  /** Outputs and blocks of one template. */
  templateTagsMax: 10_000,
  /** Texts of workflow files that a definition keeps, to show where a template failed. */
  workflowSourceBytesMax: 256 * 1024,
  /** Faults told of one file; the rest would only repeat. */
  workflowFaultsMax: 100,
  settingsFileBytesMax: 1024 * 1024,
  /** Items of one for_each; its keys are part of paths. */
  forEachItemsMax: 100_000,
  itemKeyCharsMax: 200,
  /** How often what may start is asked after one input: a few times for each of the most items that end at once. */
  advanceRoundsMax: 400_000,
  templateFuel: 1_000_000,
  templateOutputBytesMax: 4 * 1024 * 1024,
  /** What an http step reads of an answer, and how long it waits where the step has no timeout. */
  httpResponseBytesMax: 16 * 1024 * 1024,
  httpTimeoutMs: 300_000,
  httpRedirectsMax: 5,
  taskNameBytesMax: 64,
  /** Schemas that arrive at run time: outputs, scorers, tools. */
  schemaNodesMax: 20_000,
  schemaDepthMax: 64,
  schemaTextCharsMax: 64 * 1024,
  /** Compiling one, and holding one value against it. Nothing else of the process runs meanwhile. */
  schemaCheckMs: 2_000,
  keyringBytesMax: 256 * 1024,
  keyringSlotsMax: 32,
  /** More rotations than any task sees; a name with a higher one was made by nobody. */
  keyGenerationMax: 99_999_999,
  /** Revisions of a keyring that are looked at; two stand where nothing was damaged. */
  keyringRevisionsMax: 64,
  /** Keys that a task had, one after the other; each vouches for the next. */
  keyLineageMax: 500,
  /** What a reader derives for one passphrase: what is written (slot.ts), one step up. */
  scryptLog2NMax: 18,
  scryptBlockSizeMax: 8,
  scryptParallelMax: 2,
  scryptWorkMax: 2 ** 18 * 8,
  /** For all passphrases of one keyring: eight of what is written. */
  scryptKeyringWorkMax: 8 * 2 ** 17 * 8,
  passphraseCharsMin: 12,
  keyCommandTimeoutMs: 30_000,
  /** A bundle as a whole, and the files in it. */
  bundleBytesMax: 1024 ** 3,
  bundleFilesMax: 60_000,
  /** Its list of files. */
  bundleListBytesMax: 32 * 1024 * 1024,
  /** One file of a program in it, which is sealed whole. */
  carriedFileBytesMax: 256 * 1024 * 1024,
  /** Files of a task's folder beside its checkpoints: their paths in it, one name, and what is read of one at a time. */
  folderPathBytesMax: 1024,
  folderNameBytesMax: 255,
  folderPieceBytes: 1024 * 1024,
  /** Damaged places that doctor names of one task; the rest are counted. */
  damagedFilesToldMax: 100,
  segmentBytesMax: 64 * 1024 * 1024,
  segmentRecordsMax: 2 ** 20,
  /** Records that are written at once, where there is more than one; and a segment that is read: full, with one batch more. */
  batchBytesMax: 32 * 1024 * 1024,
  segmentReadBytesMax: 320 * 1024 * 1024,
  recordBytesMax: 128 * 1024 * 1024,
  snapshotSliceMs: 2,
  /** Between two events of one step's progress. */
  progressPaceMs: 250,
  /** Rows of the picture of a task, and characters of a text in it. */
  pictureRowsMax: 200,
  pictureTextCharsMax: 90,
  /** A snapshot file of this size is told with the largest paths in it, then at every doubling. */
  checkpointLargeBytes: 500 * 1000,
  ballastBytes: 1024 * 1024,
  /** Snapshot files of a task may take this plus four times its journal. */
  snapshotBudgetBaseBytes: 1024 * 1024,
  snapshotBudgetJournalFactor: 4,
  ownerBeatMs: 5_000,
  ownerWatchMs: 15_000,
  /** How long a process that has claimed a task may take to show itself before another one claims it too. */
  claimantShowsMs: 5_000,
  storeRetryMs: 5_000,
  /** A statement of a database that takes longer is given up; its outcome is then unknown. */
  databaseStatementMs: 60_000,
  databaseConnectMs: 10_000,
  /** A cache before a store: how long it is waited for, left alone after a failure, and keeps what it was given. */
  cacheWaitMs: 500,
  cacheRestMs: 10_000,
  cacheKeepMs: 24 * 60 * 60_000,
  /** What is put into it: smaller ones are read as fast from the store, larger ones would crowd out the rest. */
  cacheValueBytesMin: 4 * 1024,
  cacheValueBytesMax: 8 * 1024 * 1024,
  /** Writes to it that may be under way; further ones are left out. */
  cacheWritesMax: 8,
  killGraceMs: 5_000,
  /** What a person says to a task under way: once, and how often. It goes into every prompt that follows. */
  guidanceCharsMax: 8_000,
  guidanceEntriesMax: 200,
  /** The MCP server: how long one call waits for a task at most, well under a client's minute; and how long for a start. */
  mcpWaitMs: 45_000,
  mcpWaitDefaultMs: 25_000,
  mcpStartMs: 600,
  /** One message of a client, and one result to it; calls that may be under way at once. */
  mcpMessageBytesMax: 4 * 1024 * 1024,
  mcpResultBytesMax: 64 * 1024,
  mcpCallsMax: 64,
  /** Processes that one server has begun and that still run tasks, and how long one may load a module. */
  mcpProcessesMax: 16,
  mcpModuleCheckMs: 30_000,
  /** Rows of a list where the client asks for no number, and starts that failed late and are remembered. */
  mcpRowsMax: 50,
  mcpFailuresKeptMax: 100,
  mcpQuestionsToldMax: 1_000,
  /** One body that the dashboard takes, its pages that look at the same time, and how long a request may take to come. */
  dashboardBodyBytesMax: 1024 * 1024,
  dashboardStreamsMax: 64,
  dashboardRequestMs: 30_000,
  auditFileBytesMax: 1024 * 1024,
  controlFileBytesMax: 64 * 1024 * 1024,
} as const;

/**
 * Binds the verbs to one opened Splashdown.
 *
 * A verb's modules are loaded when it is first called: one that only reads a list waits for nothing that runs a workflow.
 */
import type { TaskStore } from "../store/contract/contract.js";
import { checkCalls } from "./call-check.js";
import type { Splashdown } from "./contract.js";
import type { KeysDeps } from "./verbs/keys/keys-verbs.js";
import type { Services } from "./services/services.js";
import { viewConfig, type LoadedSettings } from "./services/settings-loading.js";

export interface VerbParts {
  readonly storeFolder: string | undefined;
  readonly config: LoadedSettings;
  readonly close: () => Promise<void>;
}

export function createVerbs(services: Services, parts: VerbParts): Splashdown {
  return checkCalls({
    ...createRunVerbs(services),
    ...createTellingVerbs(services),
    ...createFaceVerbs(services),
    checkpoints: createCheckpointVerbs(services),
    debug: createDebugVerbs(services),
    keys: createKeyVerbs(services),
    store: createStoreVerbs(services),
    doctor: async (options = {}) =>
      (await import("./verbs/health/doctor.js")).runDoctor(services, { ...options, storeFolder: parts.storeFolder }),
    config: async () => viewConfig(parts.config),
    on: (event, listener) => services.emitter.on(event, listener),
    close: parts.close,
  });
}

/** What carries out workflows. */
function createRunVerbs(
  services: Services,
): Pick<Splashdown, "run" | "resume" | "resumeFromCheckpoint" | "recover" | "fork" | "dryRun"> {
  const load = () => import("./verbs/resume-verb.js");
  return {
    // The type of the output is that of the workflow's text.
    run: async (options) => (await import("./verbs/run-verb.js")).runWorkflow(services, options) as never,
    resume: async (options) => (await load()).resumeTask(services, options),
    resumeFromCheckpoint: async (checkpointId, options = {}) =>
      (await load()).resumeTask(services, { ...options, checkpointId }),
    recover: async (options = {}) => (await load()).recoverTasks(services, options),
    fork: async (task, options) => (await import("./verbs/fork-verb.js")).forkTask(services, task, options),
    dryRun: async (options) => (await import("./verbs/dry-run.js")).planRun(services, options),
  };
}

/** What is said to tasks that run elsewhere. */
function createTellingVerbs(services: Services): Pick<Splashdown, "answer" | "request" | "guide"> {
  const load = () => import("./verbs/messages.js");
  return {
    answer: async (options) => (await load()).answerQuestion(services, options),
    request: async (task, kind, options = {}) => (await load()).requestOfTask(services, task, { kind, ...options }),
    guide: async (options) => (await import("./verbs/guiding.js")).guideTask(services, options),
  };
}

/** What is shown of tasks and of workflow files. */
function createFaceVerbs(
  services: Services,
): Pick<
  Splashdown,
  | "taskNames"
  | "list"
  | "running"
  | "show"
  | "showStep"
  | "questions"
  | "events"
  | "validate"
  | "graph"
  | "metrics"
  | "timeline"
  | "confidence"
  | "audit"
> {
  const loadAudit = () => import("./verbs/audit-verbs.js");
  return {
    taskNames: async () => [...(await services.store.tasks())].sort(),
    list: async (reference) => {
      const { listSummaries } = await import("./tasks/summaries.js");
      if (reference === undefined) return listSummaries(services);
      const { whileOpen } = await import("./tasks/reading.js");
      return whileOpen(await openTask(services, reference), ({ name }) => listSummaries(services, [name]));
    },
    running: () => [...services.running.values()].map((view) => view()),
    show: async (reference, { at } = {}) => {
      const { viewTask, whileOpen } = await import("./tasks/reading.js");
      const { viewTaskAt } = await import("./tasks/past-standing.js");
      return whileOpen(await openTask(services, reference), (task) =>
        at === undefined ? viewTask(services, task) : viewTaskAt(services, task, at),
      );
    },
    showStep: async (task, step) => (await import("./verbs/reports/step-detail.js")).readStep(services, task, step),
    questions: async (task) => (await import("./verbs/reports/open-questions.js")).listQuestions(services, task),
    async *events(task, options) {
      yield* (await import("./verbs/reports/event-stream.js")).streamEvents(services, task, options);
    },
    validate: async (file) => (await import("./tasks/workflow-loading.js")).validateWorkflow(services, file),
    graph: async (of, format = "mermaid") => {
      const { graphTask, graphWorkflow } = await import("./verbs/reports/graph-verb.js");
      return typeof of === "string" ? graphWorkflow(services, of, format) : graphTask(services, of.task, format);
    },
    metrics: async (task) => (await import("./verbs/reports/metrics-verb.js")).reportMetrics(services, task),
    timeline: async (task) => (await import("./verbs/reports/timeline.js")).readTimeline(services, task),
    confidence: async (task) => (await import("./verbs/reports/confidence-verb.js")).readConfidence(services, task),
    audit: {
      show: async (task) => (await loadAudit()).showAudit(services, task),
      verify: async (task) => (await loadAudit()).verifyAudit(services, task),
    },
  };
}

function createCheckpointVerbs(services: Services): Splashdown["checkpoints"] {
  const loadInspection = () => import("./verbs/inspection.js");
  const loadPrune = () => import("./verbs/retention/prune-verb.js");
  const loadPins = () => import("./verbs/retention/pin-verbs.js");
  const loadBundles = () => import("./verbs/transfer/bundle-verbs.js");
  return {
    list: async (task) => (await loadInspection()).listTaskCheckpoints(services, task),
    show: async (reference, options) => (await loadInspection()).showCheckpoint(services, reference, options),
    prune: async (options) => (await loadPrune()).pruneCheckpoints(services, options),
    clear: async (task, options) => (await loadPrune()).clearCheckpoints(services, task, options),
    pin: async (reference, options) => (await loadPins()).pinCheckpoint(services, reference, options),
    unpin: async (reference) => (await loadPins()).unpinCheckpoint(services, reference),
    export: async (task, options) => (await loadBundles()).exportTask(services, task, options),
    import: async (file, options) => (await loadBundles()).importBundle(services, file, options),
    open: async (task) =>
      (await import("./verbs/retention/program-checkpoints.js")).openProgramCheckpoints(services, task),
  };
}

function createDebugVerbs(services: Services): Splashdown["debug"] {
  const load = () => import("./verbs/inspection.js");
  return {
    listCheckpoints: async (task) => (await load()).listTaskCheckpoints(services, task),
    validateCheckpoint: async (file, options) => (await load()).validateCheckpointFile(services, file, options),
    replay: async (checkpoint, options) =>
      (await import("./verbs/replay-verb.js")).replayCheckpoint(services, checkpoint, options),
    diffCheckpoints: async (from, to, options = {}) =>
      (await load()).diffTwoCheckpoints(services, { from, to, ...options }),
  };
}

function createKeyVerbs(services: Services): Splashdown["keys"] {
  const deps = createKeysDeps(services);
  const load = () => import("./verbs/keys/keys-verbs.js");
  const loadChanges = () => import("./verbs/keys/key-change-verbs.js");
  return {
    init: async (options) => (await load()).initKeys(deps, options),
    show: async (task) => (await load()).showKeys(deps, task),
    ack: async () => (await load()).acknowledgeKeys(deps),
    verify: async (task) => (await load()).verifyKeys(deps, task),
    add: async (target, source) => (await loadChanges()).addKeys(services, target, source),
    remove: async (target, name) => (await loadChanges()).removeKeys(services, target, name),
    rotate: async (target, options = {}) => (await loadChanges()).rotateKeys(services, target, options),
    accept: async (task, options) => (await import("./verbs/keys/accept-verb.js")).acceptKeys(services, task, options),
    shred: async (task, options) => (await import("./verbs/keys/shred-verb.js")).shredKeys(services, task, options),
  };
}

function createStoreVerbs(services: Services): Splashdown["store"] {
  const loadTrash = () => import("./verbs/retention/trash-verbs.js");
  return {
    copy: async (options) => (await import("./verbs/transfer/store-copy-verb.js")).copyStore(services, options),
    trash: async () => (await loadTrash()).listTrash(services),
    remove: async (tasks, options) => (await loadTrash()).removeTasks(services, tasks, options),
    restore: async (tasks) => (await loadTrash()).restoreTasks(services, tasks),
    purge: async (tasks = [], options = {}) => (await loadTrash()).purgeTasks(services, tasks, options),
  };
}

function createKeysDeps(services: Services): KeysDeps {
  return {
    access: services.keys,
    fileSystem: services.fileSystem,
    random: services.random,
    workingFolder: services.environment.workingFolder,
    encryption: services.settings.checkpoint_config.encryption,
    tasks: (name) => openTasks(services, name),
  };
}

async function openTasks(services: Services, name: string | undefined): Promise<TaskStore[]> {
  if (name !== undefined) return [await openTask(services, name)];
  const { openReadable } = await import("./keychain/readable-tasks.js");
  const tasks: TaskStore[] = [];
  for await (const task of openReadable(services)) tasks.push(task);
  return tasks;
}

async function openTask(services: Services, reference: string): Promise<TaskStore> {
  return (await import("./tasks/finding.js")).findTask(services, reference, "read");
}

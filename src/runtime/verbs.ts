/** Binds the verbs to one opened Splashdown. */
import type { Store, TaskStore } from "../store/contract.js";
import { showAudit, verifyAudit } from "./audit/audit-verbs.js";
import type { Splashdown } from "./contract.js";
import { runDoctor } from "./doctor.js";
import { streamEvents } from "./faces/event-stream.js";
import { findTask } from "./finding.js";
import { forkTask } from "./past/fork-verb.js";
import { planRun } from "./run/dry-run.js";
import { diffTwoCheckpoints, listTaskCheckpoints, showCheckpoint, validateCheckpointFile } from "./past/inspection.js";
import { graphWorkflow } from "./faces/graph-verb.js";
import { acknowledgeKeys, initKeys, showKeys, verifyKeys, type KeysDeps } from "./keys/keys-verbs.js";
import { addKeys, removeKeys, rotateKeys } from "./keys/key-change-verbs.js";
import { guideTask } from "./people/guiding.js";
import { answerQuestion, requestOfTask } from "./people/messages.js";
import { reportMetrics } from "./faces/metrics-verb.js";
import { exportTask, importBundle } from "./transfer/bundle-verbs.js";
import { listTrash, purgeTasks, removeTasks, restoreTasks } from "./retention/trash-verbs.js";
import { copyStore } from "./transfer/store-copy-verb.js";
import { shredKeys } from "./keys/shred-verb.js";
import { pinCheckpoint, unpinCheckpoint } from "./retention/pin-verbs.js";
import { openProgramCheckpoints } from "./retention/program-checkpoints.js";
import { clearCheckpoints, pruneCheckpoints } from "./retention/prune-verb.js";
import { openReadable } from "./readable-tasks.js";
import { viewTask, whileOpen } from "./reading.js";
import { replayCheckpoint } from "./past/replay-verb.js";
import { recoverTasks, resumeTask } from "./run/resume-verb.js";
import { runWorkflow } from "./run/run-verb.js";
import type { Services } from "./services.js";
import { viewConfig, type LoadedSettings } from "./settings-loading.js";
import { listSummaries } from "./summaries.js";
import { readConfidence } from "./faces/confidence-verb.js";
import { readTimeline } from "./faces/timeline.js";
import { validateWorkflow } from "./workflow-loading.js";

export interface VerbParts {
  readonly storeFolder: string | undefined;
  /** Opens another store than the one Splashdown was opened with. */
  readonly openStore: (address: string) => Store;
  readonly config: LoadedSettings;
  readonly close: () => Promise<void>;
}

export function createVerbs(services: Services, parts: VerbParts): Splashdown {
  const keys = createKeysDeps(services);
  return {
    run: (options) => runWorkflow(services, options),
    resume: (options) => resumeTask(services, options),
    resumeFromCheckpoint: (checkpointId, options = {}) => resumeTask(services, { ...options, checkpointId }),
    recover: (options = {}) => recoverTasks(services, options),
    fork: (task, options) => forkTask(services, task, options),
    answer: (options) => answerQuestion(services, options),
    request: (task, kind, options = {}) => requestOfTask(services, task, { kind, ...options }),
    guide: (options) => guideTask(services, options),
    list: () => listSummaries(services),
    running: () => [...services.running.values()].map((view) => view()),
    show: async (reference) => {
      const task = await findTask(services, reference, "read");
      return whileOpen(task, () => viewTask(services, task));
    },
    events: (task, options) => streamEvents(services, task, options),
    checkpoints: {
      list: (task) => listTaskCheckpoints(services, task),
      show: (reference) => showCheckpoint(services, reference),
      prune: (options) => pruneCheckpoints(services, options),
      clear: (task, options) => clearCheckpoints(services, task, options),
      pin: (reference, options) => pinCheckpoint(services, reference, options),
      unpin: (reference) => unpinCheckpoint(services, reference),
      export: (task, options) => exportTask(services, task, options),
      import: (file, options) => importBundle(services, file, options),
      open: (task) => openProgramCheckpoints(services, task),
    },
    debug: {
      listCheckpoints: (task) => listTaskCheckpoints(services, task),
      validateCheckpoint: (file, options) => validateCheckpointFile(services, file, options),
      replay: (checkpoint, options) => replayCheckpoint(services, checkpoint, options),
      diffCheckpoints: (from, to, options = {}) => diffTwoCheckpoints(services, { from, to, ...options }),
    },
    keys: {
      init: (options) => initKeys(keys, options),
      show: (task) => showKeys(keys, task),
      ack: () => acknowledgeKeys(keys),
      verify: (task) => verifyKeys(keys, task),
      add: (target, source) => addKeys(services, target, source),
      remove: (target, name) => removeKeys(services, target, name),
      rotate: (target, options = {}) => rotateKeys(services, target, options),
      shred: (task, options) => shredKeys(services, task, options),
    },
    store: {
      copy: (options) => copyStore({ services, openStore: parts.openStore }, options),
      trash: () => listTrash(services),
      remove: (tasks, options) => removeTasks(services, tasks, options),
      restore: (tasks) => restoreTasks(services, tasks),
      purge: (tasks = [], options = {}) => purgeTasks(services, tasks, options),
    },
    validate: (file) => validateWorkflow(services, file),
    dryRun: (options) => planRun(services, options),
    graph: (file, format = "mermaid") => graphWorkflow(services, file, format),
    metrics: (task) => reportMetrics(services, task),
    timeline: (task) => readTimeline(services, task),
    confidence: (task) => readConfidence(services, task),
    audit: {
      show: (task) => showAudit(services, task),
      verify: (task) => verifyAudit(services, task),
    },
    doctor: (options = {}) => runDoctor(services, { ...options, storeFolder: parts.storeFolder }),
    config: async () => viewConfig(parts.config),
    on: (event, listener) => services.emitter.on(event, listener),
    close: parts.close,
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
  if (name !== undefined) {
    return [await findTask(services, name, "read")];
  }
  const tasks: TaskStore[] = [];
  for await (const task of openReadable(services)) tasks.push(task);
  return tasks;
}

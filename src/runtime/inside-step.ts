/**
 * Acting verbs are for people and the programs that they start, not for steps of a task: no step answers its own gate.
 *
 * A step may read, and it may run workflows of its own, also go on with those after a crash. It may not answer, resume,
 * steer, fork, prune, export or remove tasks, nor change keys. A refusal is kept with the audit of the task it was about.
 * What this cannot hold off is a step that leaves its process tree: docs/security-setup.md says what can.
 */
import { findStepAbove, STEP_TASK_VARIABLE } from "../process/step-above.js";
import type { Splashdown } from "./contract.js";
import type { KeyTarget } from "./views/key-views.js";
import { refuse, type Refused } from "./services/step-refusal.js";
import type { Services } from "./services/services.js";
import type { RunOptions } from "./views/verb-views.js";

/** Errors: INSIDE_STEP. */
export async function requirePerson(services: Services, { verb, task }: Refused): Promise<void> {
  const step = findStepAbove(services.environment.get(STEP_TASK_VARIABLE));
  if (step === undefined) return;
  if (task !== undefined) await noteRefusal(services, { verb, task }, step);
  throw refuse(step, { verb, task });
}

/** A task that cannot be found or read has no audit to note it in. */
async function noteRefusal(services: Services, { verb, task }: Required<Refused>, step: string): Promise<void> {
  const { findTask } = await import("./tasks/finding.js");
  const found = await findTask(services, task, "read").catch(() => undefined);
  if (found === undefined) return;
  await services.audit.refused(found, { verb, by: step }).catch(() => undefined);
  await found.close();
}

type Verb = (...given: never[]) => unknown;
type Given<Room, Name extends keyof Room> = Parameters<Extract<Room[Name], Verb>>;

/** Makes the guarded verbs of one room; `prefix` stands before their names in what people read. */
function createGuard<Room extends object>(services: Services, room: Room, prefix = "") {
  return <Name extends string & keyof Room>(
    name: Name,
    taskOf?: (...given: Given<Room, Name>) => string | undefined,
  ): Room[Name] =>
    (async (...given: Given<Room, Name>) => {
      await requirePerson(services, { verb: `${prefix}${name}`, task: taskOf?.(...given) });
      return (room[name] as Verb)(...(given as never[]));
    }) as unknown as Room[Name];
}

/** The verbs with a look at who asks before each that acts. */
export function guardVerbs(services: Services, verbs: Splashdown): Splashdown {
  const { checkpoints, keys, store, debug } = verbs;
  const guard = createGuard(services, verbs);
  const guardCheckpoints = createGuard(services, checkpoints, "checkpoints ");
  const guardKeys = createGuard(services, keys, "keys ");
  const guardStore = createGuard(services, store, "store ");
  const ofTarget = (target: KeyTarget) => (target === "all" ? undefined : target.task);
  return {
    ...verbs,
    run: async (options) => {
      if (isAnswering(options)) await requirePerson(services, { verb: "run", task: options.task });
      return verbs.run(options);
    },
    resume: guard("resume", ({ task }) => task),
    resumeFromCheckpoint: async (checkpointId, options) => {
      await requirePerson(services, { verb: "resume" });
      return verbs.resumeFromCheckpoint(checkpointId, options);
    },
    recover: guard("recover"),
    fork: guard("fork", (task) => task),
    answer: guard("answer", ({ task }) => task),
    request: async (task, kind, options) => {
      await requirePerson(services, { verb: kind, task });
      return verbs.request(task, kind, options);
    },
    guide: guard("guide", ({ task }) => task),
    checkpoints: {
      ...checkpoints,
      prune: guardCheckpoints("prune"),
      clear: guardCheckpoints("clear", (task) => task),
      pin: guardCheckpoints("pin"),
      unpin: guardCheckpoints("unpin"),
      export: guardCheckpoints("export", (task) => task),
      import: guardCheckpoints("import"),
    },
    debug: {
      ...debug,
      replay: async (checkpoint, options) => {
        if (options?.live === true) await requirePerson(services, { verb: "replay" });
        return debug.replay(checkpoint, options);
      },
    },
    keys: {
      ...keys,
      init: guardKeys("init"),
      ack: guardKeys("ack"),
      add: guardKeys("add", ofTarget),
      remove: guardKeys("remove", ofTarget),
      rotate: guardKeys("rotate", ofTarget),
      shred: guardKeys("shred", (task) => task),
      accept: guardKeys("accept", (task) => task),
    },
    store: {
      ...store,
      copy: guardStore("copy"),
      remove: guardStore("remove", ([task]) => task),
      restore: guardStore("restore", ([task]) => task),
      purge: guardStore("purge", (tasks) => tasks?.[0]),
    },
  };
}

/** What a run says for a person. A new task of a step's own may be answered ahead by whoever starts it. */
function isAnswering({ answers, skipGates, unknown, onUnknown, fresh }: RunOptions): boolean {
  const isSaid = answers !== undefined && Object.keys(answers).length > 0;
  return fresh !== true && (isSaid || skipGates === true || unknown !== undefined || onUnknown !== undefined);
}

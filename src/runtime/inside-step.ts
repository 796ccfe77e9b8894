/**
 * Acting verbs are for people and the programs that they start, not for steps of a task: no step answers its own gate.
 *
 * A step may read, and it may run workflows of its own, also go on with those after a crash. It may not answer, resume,
 * steer, fork, prune, export or remove tasks, nor change keys. A refusal is kept with the audit of the task it was about.
 * What this cannot hold off is a step that leaves its process tree: docs/security-setup.md says what can.
 */
import { quoteArgument } from "../base/shell-text.js";
import { SplashdownError } from "../base/errors.js";
import { findStepAbove, STEP_TASK_VARIABLE } from "../process/step-above.js";
import type { Splashdown } from "./contract.js";
import type { KeyTarget } from "./keys/key-views.js";
import type { Services } from "./services.js";
import type { RunOptions } from "./verb-views.js";

interface Refused {
  readonly verb: string;
  readonly task?: string | undefined;
}

/** Errors: INSIDE_STEP. */
export async function requirePerson(services: Services, { verb, task }: Refused): Promise<void> {
  const step = findStepAbove(services.environment.get(STEP_TASK_VARIABLE));
  if (step === undefined) return;
  if (task !== undefined) await noteRefusal(services, { verb, task }, step);
  const about = task === undefined ? "" : ` ${quoteArgument(task)}`;
  const text = `${verb}${about} was asked for by a step of the task ${step}: that is for people, from a terminal outside of it`;
  throw new SplashdownError("INSIDE_STEP", text, {
    details: { step_of: step, verb, ...(task === undefined ? {} : { task }) },
  });
}

/** A task that cannot be found or read has no audit to note it in. */
async function noteRefusal(services: Services, { verb, task }: Required<Refused>, step: string): Promise<void> {
  const { findTask } = await import("./finding.js");
  const found = await findTask(services, task as string, "read").catch(() => undefined);
  if (found === undefined) return;
  await services.audit.refused(found, { verb, by: step }).catch(() => undefined);
  await found.close();
}

type Verb = (...given: never[]) => unknown;

/** The verbs with a look at who asks before each that acts. */
export function guardVerbs(services: Services, verbs: Splashdown): Splashdown {
  const guard = <V extends Verb>(verb: string, act: V, taskOf?: (...given: Parameters<V>) => string | undefined): V =>
    (async (...given: Parameters<V>) => {
      await requirePerson(services, { verb, task: taskOf?.(...given) });
      return act(...(given as never[]));
    }) as unknown as V;
  const { checkpoints, keys, store, debug } = verbs;
  const ofTarget = (target: KeyTarget) => (target === "all" ? undefined : target.task);
  return {
    ...verbs,
    run: async (options) => {
      if (isAnswering(options)) await requirePerson(services, { verb: "run", task: options.task });
      return verbs.run(options);
    },
    resume: guard("resume", verbs.resume, ({ task }) => task),
    resumeFromCheckpoint: guard("resume", verbs.resumeFromCheckpoint),
    recover: guard("recover", verbs.recover),
    fork: guard("fork", verbs.fork, (task) => task),
    answer: guard("answer", verbs.answer, ({ task }) => task),
    request: async (task, kind, options) => {
      await requirePerson(services, { verb: kind, task });
      return verbs.request(task, kind, options);
    },
    guide: guard("guide", verbs.guide, ({ task }) => task),
    checkpoints: {
      ...checkpoints,
      prune: guard("checkpoints prune", checkpoints.prune),
      clear: guard("checkpoints clear", checkpoints.clear, (task) => task),
      pin: guard("checkpoints pin", checkpoints.pin),
      unpin: guard("checkpoints unpin", checkpoints.unpin),
      export: guard("checkpoints export", checkpoints.export, (task) => task),
      import: guard("checkpoints import", checkpoints.import),
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
      init: guard("keys init", keys.init),
      ack: guard("keys ack", keys.ack),
      add: guard("keys add", keys.add, ofTarget),
      remove: guard("keys remove", keys.remove, ofTarget),
      rotate: guard("keys rotate", keys.rotate, ofTarget),
      shred: guard("keys shred", keys.shred, (task) => task),
    },
    store: {
      ...store,
      copy: guard("store copy", store.copy),
      remove: guard("store remove", store.remove, ([task]) => task),
      restore: guard("store restore", store.restore, ([task]) => task),
      purge: guard("store purge", store.purge, (tasks) => tasks?.[0]),
    },
  };
}

/** What a run says for a person. A new task of a step's own may be answered ahead by whoever starts it. */
function isAnswering({ answers, skipGates, unknown, onUnknown, fresh }: RunOptions): boolean {
  const isSaid = answers !== undefined && Object.keys(answers).length > 0;
  return fresh !== true && (isSaid || skipGates === true || unknown !== undefined || onUnknown !== undefined);
}

/**
 * `keys accept`: a person's word that a task's keyring is meant, though it is older than this machine remembers, begins with
 * another key, or nothing proves who locked it. What is remembered is replaced, and the trail says so.
 */
import { SplashdownError } from "../../../base/errors.js";
import { inspectKeyring, type KeyringView } from "../../../vault/keyring-view.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import { findTask } from "../../tasks/finding.js";
import { openWith, whileOpen, type OpenedTask } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import type { AcceptedKeys, AcceptOptions } from "../../views/key-views.js";

const ACCEPTABLE: ReadonlySet<string> = new Set(["KEYRING_ROLLED_BACK", "KEYRING_UNPROVEN", "KEYRING_FOREIGN"]);

/** Errors: TASK_NOT_FOUND; USAGE_INVALID for a task without a keyring; those of opening that no word mends. */
export async function acceptKeys(
  services: Services,
  reference: string,
  options: AcceptOptions = {},
): Promise<AcceptedKeys> {
  return whileOpen(await findTask(services, reference, "act"), async (task) => {
    const view = await requireKeyring(task);
    const objection = await findObjection(services, task);
    const plan = describe(task.name, view, objection);
    const wantsOrigin = options.origin === true && view.origin !== undefined;
    if (objection === undefined && !wantsOrigin) return plan;
    if (options.confirm !== undefined && !(await options.confirm(plan))) return plan;
    const vault = await services.keys.open(task, { isAccepted: true });
    if (vault.keyring !== undefined) await services.keys.memory.accept(vault.taskId, vault.keyring);
    if (wantsOrigin && view.origin !== undefined) await services.keys.origins.trust(view.origin);
    await noteAccepted(services, openWith(services, task, vault), { view, objection });
    return { ...plan, accepted: true };
  });
}

/** Errors: USAGE_INVALID for a task without a keyring. */
async function requireKeyring(task: TaskStore): Promise<KeyringView> {
  const view = await inspectKeyring(task);
  if (view !== undefined) return view;
  throw new SplashdownError("USAGE_INVALID", `task ${task.name} has no keyring`, {
    details: { verb: "keys accept", task: task.name },
  });
}

interface Accepted {
  readonly view: KeyringView;
  readonly objection: SplashdownError | undefined;
}

/** Says in the audit trail which keyring was accepted, and against what. */
async function noteAccepted(services: Services, opened: OpenedTask, { view, objection }: Accepted): Promise<void> {
  const details = { revision: view.revision, why: objection?.code ?? null, origin: view.origin ?? null };
  await services.audit.note(opened, { event: "keys_accepted", verb: "keys accept", details });
}

/** What stands against the keyring and can be accepted. Errors: what cannot. */
async function findObjection(services: Services, task: TaskStore): Promise<SplashdownError | undefined> {
  try {
    await services.keys.open(task);
    return undefined;
  } catch (error) {
    if (error instanceof SplashdownError && ACCEPTABLE.has(error.code)) return error;
    throw error;
  }
}

function describe(task: string, view: KeyringView, objection: SplashdownError | undefined): AcceptedKeys {
  const { file, revision, origin } = view;
  return {
    task,
    accepted: false,
    file,
    revision,
    ...(origin === undefined ? {} : { origin }),
    ...(objection === undefined ? {} : { objection: { code: objection.code, message: objection.message } }),
  };
}

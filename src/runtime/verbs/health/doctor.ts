/** Checks this place: Node, store, keys, anchor folder, children, disk. Each finding says how to mend it. */
import { writeCommand } from "../../../base/command-text.js";
import { formatCount } from "../../../base/plain-text.js";
import { statfs } from "node:fs/promises";
import { messageOf, SplashdownError } from "../../../base/errors.js";
import { LIMITS } from "../../../base/limits.js";
import { hidePassword } from "../../../base/store-address.js";
import { probeCache } from "../../../store/cache/cache-probe.js";
import type { CheckView, DoctorOptions } from "../../views/verb-views.js";
import { listUnfinishedChanges } from "../keys/keys-verbs.js";
import { checkModels } from "../../services/model-check.js";
import { openReadable } from "../../keychain/readable-tasks.js";
import type { Services } from "../../services/services.js";
import { describeShared, shareProblems } from "../../../base/shared-problems.js";
import { listSummaries } from "../../tasks/summaries.js";
import { proveTasks } from "./task-proof.js";
import { listUnacknowledgedKeys } from "../../keychain/acknowledged-keys.js";

const NODE_MIN = [20, 19] as const;

export async function runDoctor(
  services: Services,
  { storeFolder, models = false, tasks = false }: DoctorOptions & { readonly storeFolder: string | undefined },
): Promise<{ readonly checks: readonly CheckView[] }> {
  const { cache } = services.settings;
  const checks = [checkNode(), await attempt("store", () => checkStore(services))];
  if (cache !== undefined) checks.push(await checkCache(services, cache));
  checks.push(
    await attempt("keys", () => checkKeys(services)),
    await attempt("children", () => checkChildren(services)),
    await attempt("tasks", () => checkTasks(services)),
  );
  if (tasks) for await (const check of proveTasks(services)) checks.push(check);
  if (storeFolder !== undefined) checks.push(await attempt("disk", () => checkDisk(services, storeFolder)));
  if (models) checks.push(...(await checkModels(services)));
  return { checks };
}

/** What errors of the store say to type: who reads this has typed it. */
const SELF = writeCommand("doctor");
const MEND = "mend what it says, or name another place with --store";

async function attempt(name: string, check: () => Promise<Omit<CheckView, "name">>): Promise<CheckView> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return {
      name,
      ok: false,
      text: messageOf(error),
      ...(error instanceof SplashdownError ? { hint: error.hint === SELF ? MEND : error.hint } : {}),
    };
  }
}

function checkNode(): CheckView {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const ok = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const text = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  return ok
    ? { name: "node", ok, text }
    : { name: "node", ok, text, hint: `install Node ${NODE_MIN.join(".")} or newer` };
}

async function checkStore({ store }: Services): Promise<Omit<CheckView, "name">> {
  await store.probe();
  const { manifest } = store;
  return {
    ok: true,
    text: `${store.address}: can be written${manifest.durable ? ", durable" : ", NOT durable"}${manifest.multiProcess ? "" : ", one process only"}`,
  };
}

async function checkCache({ clock }: Services, cache: string): Promise<CheckView> {
  const [name, address] = ["cache", hidePassword(cache)];
  const found = await probeCache(cache, clock);
  if ("latencyMs" in found) return { name, ok: true, text: `${address}: answers in ${found.latencyMs.toFixed(1)} ms` };
  return {
    name,
    ok: false,
    text: `${address}: ${found.trouble}; everything is read from the store meanwhile, slower and none the less right`,
    hint: "start that Redis server, or take cache: out of the settings",
  };
}

async function checkKeys(services: Services): Promise<Omit<CheckView, "name">> {
  const { keys, settings, fileSystem } = services;
  if (!settings.checkpoint_config.encryption)
    return {
      ok: false,
      text: "encryption is off; what is written can be read by anybody",
      hint: "remove encryption: false from the settings",
    };
  const states = await keys.probe();
  const problem = states.find((state) => state.problem !== undefined)?.problem;
  if (problem !== undefined) return { ok: false, text: messageOf(problem), hint: problem.hint };
  const ready = states.filter((state) => state.secret !== undefined);
  if (ready.length === 0)
    return { ok: true, text: "no key yet; a first run makes one, or make it now", hint: writeCommand("keys init") };
  const unfinished = await listUnfinishedChanges(openReadable(services));
  if (unfinished.length > 0)
    return {
      ok: false,
      text: `a change of keys was cut off in ${unfinished.join(", ")}: an older keyring may still give what it took away`,
      hint: writeCommand("keys rotate", unfinished.slice(0, 1)),
    };
  const unsaid = await listUnacknowledgedKeys({ access: keys, fileSystem });
  const text = `${ready.map((state) => state.label).join(", ")} at hand`;
  return unsaid.length === 0
    ? { ok: true, text }
    : {
        ok: true,
        text: `${text}; not marked as backed up`,
        hint: `copy the key file, then: ${writeCommand("keys ack")}`,
      };
}

async function checkChildren({ processes, environment }: Services): Promise<Omit<CheckView, "name">> {
  const child = await processes().spawn({
    program: process.execPath,
    arguments: ["-e", "process.stdout.write('ok')"],
    folder: environment.workingFolder,
    environment: { PATH: environment.get("PATH") ?? "" },
    stdoutBytesMax: 1024,
    stderrTailBytes: LIMITS.stderrTailBytes,
    isNoted: true,
  });
  child.release();
  const { stdout, exitCode } = await child.result;
  return stdout.toString("utf8") === "ok"
    ? { ok: true, text: "children start in groups of their own and end with their owner" }
    : { ok: false, text: `a child process exited with ${String(exitCode)} and printed nothing` };
}

async function checkTasks(services: Services): Promise<Omit<CheckView, "name">> {
  const tasks = await listSummaries(services);
  const bad = tasks.filter((task) => task.problem !== undefined);
  const crashed = tasks.filter((task) => task.status === "crashed");
  if (bad.length > 0) {
    const problems = bad.flatMap(({ task, problem }) => (problem === undefined ? [] : [{ task, ...problem }]));
    const shared = shareProblems(problems);
    return { ok: false, text: shared.map(describeShared).join("; "), hint: shared[0]?.hint ?? writeCommand("list") };
  }
  const text = `${formatCount(tasks.length, "task")}, all readable`;
  return crashed.length === 0
    ? { ok: true, text }
    : { ok: true, text: `${text}; ${crashed.length} crashed`, hint: writeCommand("recover") };
}

const FREE_BYTES_MIN = 64 * 1024 * 1024;

async function checkDisk({ fileSystem }: Services, folder: string): Promise<Omit<CheckView, "name">> {
  const { bavail, bsize } = await statfs(folder).catch(() => statfs("."));
  const freeBytes = bavail * bsize;
  const { network, volatile } = await fileSystem.volumeOf(folder).catch(() => ({ network: false, volatile: false }));
  const text = `${Math.round(freeBytes / 1024 / 1024)} MiB free at ${folder}${volatile ? ", in memory only" : ""}`;
  if (network)
    return {
      ok: false,
      text: `${folder} is on a network file system: other machines' processes cannot be seen`,
      hint: "use a local disk: --store file:PATH",
    };
  return freeBytes < FREE_BYTES_MIN ? { ok: false, text, hint: "free some space" } : { ok: true, text };
}

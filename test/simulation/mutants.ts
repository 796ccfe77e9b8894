/** Protocols with one thing left out. Each must show as a violation, or the explorer cannot see that fault at all. */
import type { FileHandle } from "../../src/base/file-system.js";
import { changeFileSystem, changeHandles } from "../support/changed-file-system.js";
import { wrapTask } from "../support/wrapped-task.js";
import type { TaskStore } from "../../src/store/contract/contract.js";
import type { WorkloadName } from "./explorer.js";
import type { Protocol } from "./workloads.js";

export interface Mutant extends Protocol {
  readonly name: string;
  /** The workload in which it shows soonest. */
  readonly shownBy: WorkloadName;
}

const nothing = () => Promise.resolve();

/** Tries a failed sync once more on the same descriptor, as if that told anything. */
function syncTwice(handle: FileHandle): Partial<FileHandle> {
  const twice = (sync: () => Promise<void>) => async () => {
    try {
      await sync();
    } catch {
      await sync();
    }
  };
  return { datasync: twice(() => handle.datasync()), sync: twice(() => handle.sync()) };
}

/** Reads the history before the claim, and believes it afterwards. */
function readBeforeClaim(task: TaskStore, pause: () => Promise<void>): TaskStore {
  const kept = new Map<string, Uint8Array>();
  let listed: Awaited<ReturnType<TaskStore["segments"]>> = [];
  let objects: Awaited<ReturnType<TaskStore["list"]>> = [];
  return wrapTask(task, {
    claim: async (after) => {
      listed = await task.segments();
      objects = await task.list("");
      for (const id of listed) kept.set(`${id.epoch}-${id.index}`, await task.read(id));
      await pause();
      return task.claim(after);
    },
    segments: async () => listed,
    list: async (prefix) => objects.filter(({ key }) => key.startsWith(prefix)),
    read: async (id) => kept.get(`${id.epoch}-${id.index}`) ?? (await task.read(id)),
  });
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "no fdatasync of segments",
    shownBy: "one step",
    wrapFileSystem: (fs) => changeHandles(fs, () => ({ datasync: nothing }), ["create"]),
  },
  {
    name: "no fsync of folders",
    shownBy: "one step",
    wrapFileSystem: (fs) => changeFileSystem(fs, { syncFolder: nothing }),
  },
  {
    name: "no fsync of snapshots",
    shownBy: "one step",
    wrapFileSystem: (fs) => changeHandles(fs, () => ({ sync: nothing })),
  },
  {
    name: "fsync again after it failed",
    shownBy: "an operation fails, then a crash",
    wrapFileSystem: (fs) => changeHandles(fs, syncTwice),
  },
  {
    // Either alone is enough.
    name: "what a successor reads is neither made durable nor repeated",
    shownBy: "recovery of a killed task",
    wrapFileSystem: (fs) => changeHandles(fs, () => ({ datasync: nothing }), ["read", "append"]),
    deviations: { repeatsNothing: true },
  },
  { name: "act before the intent is durable", shownBy: "one step", deviations: { actsBeforeDurable: true } },
  { name: "act without the look", shownBy: "superseded owner continues", deviations: { actsWithoutLook: true } },
  { name: "claim after reading", shownBy: "superseded owner continues", deviations: { wrapTask: readBeforeClaim } },
  {
    name: "the last batch of who came before is not repeated",
    shownBy: "a sync fails, killed, taken over",
    deviations: { repeatsNothing: true },
  },
  {
    name: "continue records that were not read",
    shownBy: "superseded owner continues",
    deviations: { continuesUnread: true },
  },
];

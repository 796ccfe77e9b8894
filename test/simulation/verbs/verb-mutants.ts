/**
 * Protocols of whole verbs with one thing left out: what was to be durable is not, or more goes than may. Each must show
 * as a violation, or the explorer cannot see that fault at all.
 */
import type { FileHandle, FileSystem } from "../../../src/base/file-system.js";
import { changeFileSystem, changeHandle } from "../../support/changed-file-system.js";
import type { Wrap } from "./scenario.js";

export interface VerbMutant {
  readonly name: string;
  /** The scenario in which it shows. */
  readonly shownBy: string;
  readonly wrap: Wrap;
  /** The share of the verb's life before which it cannot show. */
  readonly from?: number;
}

const nothing = () => Promise.resolve();

/** No sync of a file after such bytes were written to it; `path` narrows it down. */
function unsynced(bytes: RegExp, path = /./): Wrap {
  return (fileSystem) =>
    changeFileSystem(fileSystem, {
      open: async (at, intent) => {
        const handle = await fileSystem.open(at, intent);
        return path.test(at) ? forgetSync(handle, bytes) : handle;
      },
    });
}

function forgetSync(handle: FileHandle, meant: RegExp): FileHandle {
  let isMeant = false;
  const unless = (sync: () => Promise<void>) => () => (isMeant ? nothing() : sync());
  return changeHandle(handle, {
    write: (bytes) => {
      isMeant = meant.test(Buffer.from(bytes.subarray(0, 4096)).toString("latin1"));
      return handle.write(bytes);
    },
    sync: unless(() => handle.sync()),
    datasync: unless(() => handle.datasync()),
  });
}

/** No sync of such folders. */
function unsyncedFolder(path: RegExp): Wrap {
  return (fileSystem) =>
    changeFileSystem(fileSystem, {
      syncFolder: (at) => (path.test(at) ? nothing() : fileSystem.syncFolder(at)),
    });
}

/** With one file of such a kind, the newest but one goes too. */
function takingMore(path: RegExp): Wrap {
  return (fileSystem) =>
    changeFileSystem(fileSystem, {
      unlink: async (at) => {
        await fileSystem.unlink(at);
        if (path.test(at)) await takeAnother(fileSystem, at);
      },
    });
}

async function takeAnother(fileSystem: FileSystem, gone: string): Promise<void> {
  const [folder, kind] = [gone.slice(0, gone.lastIndexOf("/")), /[^/]{3}[^/]*$/.exec(gone)?.[0].slice(0, 3) ?? ""];
  const names = (await fileSystem.readdir(folder)).filter((name) => name.startsWith(kind));
  const next = names.sort().at(-2);
  if (next !== undefined) await fileSystem.unlink(`${folder}/${next}`).catch(() => undefined);
}

/** So many turns of the others a slow sync takes: whoever waits for what is gone looks again meanwhile. */
const TURNS = 50;

/** The owner reads a message to judge it, and once more to take it. */
const READS = 2;

/** What is taken of such a kind is gone at once, before what is done about it is synced, which takes its time. */
function removedWhenTaken(path: RegExp): Wrap {
  return (fileSystem) => {
    let reads = 0;
    let isTaken = false;
    const slowly = (sync: () => Promise<void>) => async () => {
      const turns = isTaken ? TURNS : 0;
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await sync();
    };
    return changeFileSystem(fileSystem, {
      open: async (at, intent) => {
        const handle = await fileSystem.open(at, intent);
        const close = async () => {
          await handle.close();
          if (intent === "read" && path.test(at)) reads += 1;
          if (reads !== READS || isTaken) return;
          isTaken = true;
          await fileSystem.unlink(at);
        };
        return changeHandle(handle, { close, datasync: slowly(() => handle.datasync()) });
      },
    });
  };
}

const FIRST_RUN = "a task with a blob and a deliverable, its key made on the way";
const HISTORY = "prune of the history";
const KEYS = "keys init, ack";
const KEY_CHANGES = "keys add, rotate the task's key, remove";
const ANSWER = "an answer";
const GOING_BACK = "going back to a checkpoint";
const IMPORT = "import of a bundle";
const PIN = "pin, prune, unpin";
const REENCRYPT = "keys rotate --reencrypt";

export const VERB_MUTANTS: readonly VerbMutant[] = [
  { name: "files go before their removal is recorded", shownBy: "prune of files", wrap: unsynced(/"k":"prune"/) },
  {
    name: "retention removes before it is recorded",
    shownBy: "retention while a task runs",
    from: 0.45,
    wrap: unsynced(/"k":"prune"/),
  },
  { name: "segments go before their removal is recorded", shownBy: HISTORY, from: 0.8, wrap: unsynced(/"k":"prune"/) },
  {
    name: "the old history goes before the new one is in force",
    shownBy: REENCRYPT,
    from: 0.3,
    wrap: unsynced(/"k":"note"/),
  },
  { name: "a segment too many goes", shownBy: HISTORY, from: 0.8, wrap: takingMore(/\/journal\//) },
  { name: "a checkpoint file too many goes", shownBy: "prune of files", wrap: takingMore(/\/checkpoint_/) },
  {
    name: "a removed task is not off the list for good",
    shownBy: "a whole task that goes to the trash by age, and what was there goes for good",
    wrap: unsyncedFolder(/^\/outputs(\/\.|\/t)?$/),
  },
  { name: "the record of a fork is not synced", shownBy: "fork", from: 0.9, wrap: unsynced(/"k":"task"/, /\/f\//) },
  { name: "the keyring of a fork is not synced", shownBy: "fork", from: 0.6, wrap: unsynced(/splashdown\.keyring/) },
  { name: "blobs of a fork are not synced", shownBy: "fork", from: 0.8, wrap: unsynced(/splashdown\.blob/) },
  { name: "an intent is not durable before it acts", shownBy: GOING_BACK, from: 0.5, wrap: unsynced(/"k":"intent"/) },
  { name: "an answer is not synced", shownBy: ANSWER, wrap: unsynced(/splashdown\.control/) },
  { name: "the name of an answer is not durable", shownBy: ANSWER, wrap: unsyncedFolder(/\/control$/) },
  {
    name: "a request is removed before its effect is durable",
    shownBy: "a request to a running task",
    from: 0.3,
    wrap: removedWhenTaken(/\/control\/request-[^/]*~\d+$/),
  },
  { name: "an imported keyring is not synced", shownBy: IMPORT, from: 0.6, wrap: unsynced(/splashdown\.keyring/) },
  { name: "large values of an import are not synced", shownBy: IMPORT, from: 0.5, wrap: unsynced(/splashdown\.blob/) },
  {
    name: "an import counts before its names are durable",
    shownBy: IMPORT,
    from: 0.5,
    wrap: unsyncedFolder(/\/t\/checkpoints$/),
  },
  {
    name: "the word that keys are destroyed is not durable before they are",
    shownBy: "keys shred",
    wrap: unsyncedFolder(/\/t\/checkpoints$/),
  },
  { name: "an audit entry is not synced", shownBy: ANSWER, wrap: unsynced(/splashdown\.audit"/) },
  { name: "the name of an audit entry is not durable", shownBy: ANSWER, wrap: unsyncedFolder(/checkpoints\/audit$/) },
  { name: "a pin is not synced, and its name not durable", shownBy: PIN, wrap: unsyncedFolder(/\/control$/) },
  { name: "a new key is not synced", shownBy: KEYS, wrap: unsynced(/splashdown-key/) },
  { name: "the name of a new key is not durable", shownBy: KEYS, wrap: unsyncedFolder(/\/keys\/\.$/) },
  { name: "the word that a key is backed up is not synced", shownBy: KEYS, wrap: unsynced(/^[0-9a-f]{16,64}\n$/) },
  {
    name: "the keyring of a change is not synced",
    shownBy: KEY_CHANGES,
    from: 0.2,
    wrap: unsynced(/splashdown\.keyring"[^]*"rev":[2-9]/),
  },
  { name: "the first keyring is not synced", shownBy: FIRST_RUN, from: 0.2, wrap: unsynced(/splashdown\.keyring/) },
  {
    name: "blobs are not synced before their record",
    shownBy: FIRST_RUN,
    from: 0.5,
    wrap: unsynced(/splashdown\.blob/),
  },
  {
    name: "names of blobs are not durable before their record",
    shownBy: FIRST_RUN,
    from: 0.5,
    wrap: unsyncedFolder(/\/blobs\/..$/),
  },
  { name: "a deliverable is not synced", shownBy: FIRST_RUN, from: 0.85, wrap: unsynced(/xxxxxxxx/, /\/phases\//) },
  {
    name: "a rotten file is set aside without a sync",
    shownBy: "recovery that finds its newest checkpoint file rotten",
    wrap: unsynced(/splashdown\.checkpoint"/),
  },
  {
    name: "recovery acts before its epoch is durable",
    shownBy: "recovery of a task that crashed at 0.35 of its life",
    wrap: unsynced(/"k":"(recovery|intent)"/),
  },
];

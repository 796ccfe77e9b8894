// Runs or resumes a task with the built program over a file system that kills this process at a named point:
//   intent:N, spawned:N, done:N   right after the N-th durable record of that kind; any other family of records too,
//                                 by its own name: failure:N, decision:N, score:N, question:N, checkpoint:N …
//   record:N                      right after the N-th durable record of any kind
//   half-snapshot:N               when half of the N-th snapshot's bytes are written, or before its statement
//   operation:N                   right before the N-th file operation or statement that changes something
// usage: node kill-child.mjs PROGRAM POINT run FILE TASK [NAME=VALUE…] | PROGRAM POINT resume TASK
//        | PROGRAM POINT call VERB ARGUMENTS-AS-JSON   e.g. call checkpoints.prune '[{"task":"t"}]'; prints its view
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { hookDatabase } from "./killing-database.mjs";

const [program, point, verb, ...rest] = process.argv.slice(2);
const importBuilt = (file) => import(pathToFileURL(join(dirname(program), "..", file)).href);
const { createNodeFileSystem } = await importBuilt("base/node-file-system.js");
const { openSplashdown } = await importBuilt("runtime/open.js");

const [kind, count] = point.split(":");
const OTHER_POINTS = ["half-snapshot", "operation"];
/** How a record's line names its family, where the point says it otherwise. */
const FAMILIES = { done: 'completion"', record: "" };
const RECORD = OTHER_POINTS.includes(kind) ? undefined : `"k":"${FAMILIES[kind] ?? `${kind}"`}`;
let left = Number(count);

function strike() {
  process.kill(process.pid, "SIGKILL");
  // The signal comes at the next turn of the kernel: nothing more may happen here.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
}

function countDown() {
  left -= 1;
  if (left === 0) strike();
}

function wrapHandle(handle, path) {
  let pending = 0;
  return {
    ...pick(handle, ["read", "stat", "close", "sync"]),
    write: async (bytes) => {
      if (kind === "operation") countDown();
      if (kind === "half-snapshot" && path.endsWith(".tmp") && holds(bytes, "splashdown.checkpoint")) {
        left -= 1;
        if (left === 0) {
          await handle.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
          strike();
        }
      }
      if (RECORD !== undefined && !beginsSegment(bytes))
        pending += Buffer.from(bytes).toString("latin1").split(RECORD).length - 1;
      return handle.write(bytes);
    },
    datasync: async () => {
      await handle.datasync();
      for (; pending > 0; pending -= 1) countDown();
    },
  };
}

/** A segment begins with its header and what it repeats of the one before: nothing of that happens now. */
function beginsSegment(bytes) {
  return holds(bytes, "splashdown.journal");
}

function holds(bytes, word) {
  return Buffer.from(bytes.subarray(0, 40)).includes(word);
}

const bytesOf = (values) => values.filter((value) => value instanceof Uint8Array);

function pick(object, names) {
  return Object.fromEntries(names.map((name) => [name, object[name].bind(object)]));
}

const CHANGING = ["mkdir", "link", "rename", "unlink", "syncFolder"];

function createKillingFileSystem() {
  const real = createNodeFileSystem();
  const wrapped = pick(real, [
    "mkdir",
    "readdir",
    "look",
    "lstat",
    "link",
    "rename",
    "unlink",
    "rmdir",
    "syncFolder",
    "volumeOf",
  ]);
  for (const name of CHANGING) {
    const act = wrapped[name];
    wrapped[name] = async (...args) => {
      if (kind === "operation") countDown();
      return act(...args);
    };
  }
  return {
    ...wrapped,
    open: async (path, intent) => {
      if (kind === "operation" && intent !== "read") countDown();
      return wrapHandle(await real.open(path, intent), path);
    },
  };
}

await hookDatabase(process.env.SPLASHDOWN_STORE ?? "", {
  before: (_sql, values) => {
    if (kind === "operation") countDown();
    if (kind === "half-snapshot" && bytesOf(values).some((bytes) => holds(bytes, "splashdown.checkpoint"))) countDown();
  },
  after: (_sql, values) => {
    if (RECORD === undefined) return;
    for (const bytes of bytesOf(values).filter((each) => !beginsSegment(each))) {
      const found = Buffer.from(bytes).toString("latin1").split(RECORD).length - 1;
      for (let at = 0; at < found; at += 1) countDown();
    }
  },
});

const log = { info: () => undefined, warn: () => undefined, debug: () => undefined };
const splashdown = await openSplashdown({ fileSystem: createKillingFileSystem(), log });
if (verb === "call") {
  const act = rest[0].split(".").reduce((place, name) => place[name], splashdown);
  console.log(JSON.stringify(await act(...JSON.parse(rest[1]))));
  await splashdown.close();
  process.exit(0);
}
const view =
  verb === "run"
    ? await splashdown.run({
        workflow: rest[0],
        task: rest[1],
        inputTexts: Object.fromEntries(rest.slice(2).map((pair) => pair.split("=", 2))),
      })
    : await splashdown.resume({ task: rest[0] });
await splashdown.close();
process.exit(view.exit_status);

/** R12: a task that cannot be read is one bad entry in every verb that goes over tasks, and stops no other. */
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { createNodeFileSystem } from "../../../src/base/node-file-system.js";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { changeFileSystem, changeHandle } from "../../support/changed-file-system.js";
import { openPlace } from "../../support/command-place.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createPlatformError } from "../../support/platform-error.js";

const GATED = `workflow: {name: gated, entry_point: review}
agents:
  - name: review
    type: human_gate
    prompt: "Publish?"
    options: [{label: Continue, value: approve, route: $end}]
output: {chosen: "{{ review.output.selected }}"}
`;
const OTHER = `workflow: {name: other, entry_point: a}
agents: [{name: a, type: set, value: 7, routes: [{to: $end}]}]
output: {a: "{{ a.output }}"}
`;

type Call = "lstat" | "readdir" | "open" | "read";
type Fault = (call: Call, path: string) => string | undefined;

/** Calls on files fail as told. */
function createFaulty(fault: Fault): FileSystem {
  const inner = createNodeFileSystem();
  const run = async <T>(call: Call, path: string, act: () => Promise<T>): Promise<T> => {
    const errno = fault(call, path);
    if (errno !== undefined) throw createPlatformError(errno, path);
    return act();
  };
  return changeFileSystem(inner, {
    lstat: (path) => run("lstat", path, () => inner.lstat(path)),
    readdir: (path) => run("readdir", path, () => inner.readdir(path)),
    look: (path) => run("readdir", path, () => inner.look(path)),
    open: async (path, intent) => {
      const handle = await run("open", path, () => inner.open(path, intent));
      return changeHandle(handle, { read: (at, length) => run("read", path, () => handle.read(at, length)) });
    },
  });
}

interface Ground {
  readonly splashdown: Splashdown;
  readonly other: string;
}

/** A task `bad` that has ended, and a task `good` whose question was answered; then calls fail as told. */
async function withGround(fault: Fault, act: (ground: Ground) => Promise<void>): Promise<void> {
  const place = openPlace();
  const [other, gated] = [place.write("other.yaml", OTHER), place.write("gated.yaml", GATED)];
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const before = await openSplashdown({ store: "file:outputs", environment });
  expect(await before.run({ workflow: other, task: "bad" })).toMatchObject({ status: "done" });
  expect(await before.run({ workflow: gated, task: "good" })).toMatchObject({ status: "waiting" });
  await before.answer({ task: "good", answer: "approve" });
  await before.close();
  const splashdown = await openSplashdown({ store: "file:outputs", environment, fileSystem: createFaulty(fault) });
  try {
    await act({ splashdown, other });
  } finally {
    await splashdown.close();
  }
}

/** Every verb that goes over tasks answers, names the bad one where it is its place to, and the others go on. */
async function expectOthersUnaffected({ splashdown, other }: Ground, code: string): Promise<void> {
  const listed = await splashdown.list();
  expect(listed.map(({ task, problem }) => [task, problem?.code])).toEqual([
    ["bad", code],
    ["good", undefined],
  ]);
  expect((await splashdown.checkpoints.list()).every(({ task }) => task === "good")).toBe(true);
  const pruned = await splashdown.checkpoints.prune({ dryRun: true });
  expect(pruned.tasks.map(({ task, action }) => [task, action])).toEqual([
    ["bad", "keep"],
    ["good", "keep"],
  ]);
  expect((await splashdown.metrics()).tasks.map(({ task }) => task)).toEqual(["good"]);
  const { checks } = await splashdown.doctor({ tasks: true });
  expect(checks.find(({ name }) => name === "keys")?.ok).toBe(true);
  expect(checks.find(({ name }) => name === "tasks")).toMatchObject({
    ok: false,
    text: expect.stringContaining("bad:"),
  });
  expect(checks.filter(({ name, ok }) => name === "good" && !ok)).toEqual([]);
  expect((await splashdown.audit.show()).entries.some(({ task }) => task === "good")).toBe(true);
  expect((await splashdown.audit.verify()).checks.filter(({ name, ok }) => name === "good" && !ok)).toEqual([]);
  expect((await splashdown.store.trash()).tasks).toEqual([]);
  expect(await splashdown.show("good")).toMatchObject({ task: "good" });
  const run = await splashdown.run({ workflow: other, task: "third" });
  expect(run).toMatchObject({ status: "done", output: { a: 7 } });
  const recovered = await splashdown.recover();
  expect(recovered.tasks.find(({ task }) => task === "good")).toMatchObject({
    action: "taken_up",
    result: { status: "done", output: { chosen: "approve" } },
  });
  expect(await codeOfAsync(() => splashdown.show("bad"))).toBe(code);
}

const isIn = (path: string, folder: string): boolean => path.includes(`/outputs/bad${folder}`);

describe("a task that cannot be read", () => {
  it("[reliability 3a kin] for want of rights below its folder stops no other", async () => {
    const closed: Fault = (_call, path) => (isIn(path, "/") ? "EACCES" : undefined);
    await withGround(closed, (ground) => expectOthersUnaffected(ground, "STORE_UNWRITABLE"));
  });

  it("[reliability 3a kin] whose very folder cannot be looked at stops no other", async () => {
    const gone: Fault = (_call, path) => (isIn(path, "") ? "EIO" : undefined);
    await withGround(gone, (ground) => expectOthersUnaffected(ground, "STORE_FAILED"));
  });

  it("[reliability 3b] for a bad sector under its journal stops no other", async () => {
    const sector: Fault = (call, path) => (call === "read" && isIn(path, "/checkpoints/journal/") ? "EIO" : undefined);
    await withGround(sector, (ground) => expectOthersUnaffected(ground, "STORE_FAILED"));
  });

  it("[reliability 3b kin] for a bad sector under its keyring stops no other", async () => {
    const sector: Fault = (call, path) => (call === "read" && isIn(path, "/checkpoints/keyring-") ? "EIO" : undefined);
    await withGround(sector, (ground) => expectOthersUnaffected(ground, "STORE_FAILED"));
  });

  it("[reliability 3b kin] whose list of segments cannot be read stops no other", async () => {
    const list: Fault = (call, path) => (call === "readdir" && isIn(path, "/checkpoints/journal") ? "EIO" : undefined);
    await withGround(list, (ground) => expectOthersUnaffected(ground, "STORE_FAILED"));
  });

  it("[reliability 3b kin] whose segments cannot be opened stops no other", async () => {
    const open: Fault = (call, path) => (call === "open" && isIn(path, "/checkpoints/journal/") ? "EACCES" : undefined);
    await withGround(open, (ground) => expectOthersUnaffected(ground, "STORE_UNWRITABLE"));
  });

  it("[reliability 3c] for a reason that Node has no name for, as a stale NFS handle, stops no other", async () => {
    const stale: Fault = (call, path) =>
      call === "read" && isIn(path, "/checkpoints/journal/") ? "ESTALE" : undefined;
    await withGround(stale, (ground) => expectOthersUnaffected(ground, "STORE_FAILED"));
  });

  it("[reliability 3c kin] whose file system needs cleaning stops no other", async () => {
    const unclean: Fault = (_call, path) => (isIn(path, "/") ? "EUCLEAN" : undefined);
    await withGround(unclean, (ground) => expectOthersUnaffected(ground, "STORE_FAILED"));
  });

  it("[reliability 3c kin] for a lack of locks in the folder stops no other", async () => {
    const locks: Fault = (call, path) => (call === "open" && isIn(path, "/") ? "ENOLCK" : undefined);
    await withGround(locks, (ground) => expectOthersUnaffected(ground, "STORE_FAILED"));
  });

  it("[reliability 3c kin] for an error with a number that nobody knows stops no other", async () => {
    const inner = createNodeFileSystem();
    const fileSystem = changeFileSystem(inner, {
      lstat: (path) =>
        isIn(path, "/")
          ? Promise.reject(Object.assign(new Error("?"), { code: "Unknown system error -4711", errno: -4711 }))
          : inner.lstat(path),
    });
    const place = openPlace();
    const workflow = place.write("other.yaml", OTHER);
    const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
    const before = await openSplashdown({ store: "file:outputs", environment });
    await before.run({ workflow, task: "bad" });
    await before.close();
    const splashdown = await openSplashdown({ store: "file:outputs", environment, fileSystem });
    expect(await splashdown.run({ workflow, task: "good" })).toMatchObject({ status: "done" });
    expect((await splashdown.list()).map(({ task, problem }) => [task, problem?.code])).toEqual([
      ["bad", "STORE_FAILED"],
      ["good", undefined],
    ]);
    expect((await splashdown.recover()).tasks.map(({ task }) => task)).toEqual(["bad", "good"]);
    await splashdown.close();
  });
});

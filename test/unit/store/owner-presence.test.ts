import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Place } from "../../../src/base/place.js";
import type { OwnerFacts, OwnerState, TaskStore } from "../../../src/store/contract/contract.js";
import type { PingResult, PresencePort } from "../../../src/store/contract/presence-port.js";
import type { Machine } from "../../../src/store/contract/store-parts.js";
import { createSocketPresence } from "../../../src/store/presence/socket-presence.js";
import { FACTS } from "../../conformance/store-case.js";
import { FakeClock, flushReactions } from "../../support/fake-clock.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { realClock, until } from "../../support/real-clock.js";
import { placeOf } from "../../support/places.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createModelStore, createRealStore, withFolder } from "../../support/store-places.js";

const presence = createSocketPresence({ clock: realClock, platform: process.platform });
const { host, machineId, bootId, namespace } = FACTS;
const HERE = { host, machineId, bootId, namespace };

/** A port whose doors answer as told. */
function fixedPresence(knock: PingResult): PresencePort {
  return { listen: async () => ({ close: async () => undefined }), ping: async () => knock };
}

/** A task whose sockets are files of its disk; whoever listened there is dead. */
function modelTask(fileSystem: ModelFileSystem, verb: "task" | "createTask"): Promise<TaskStore | undefined> {
  const modelled: PresencePort = {
    listen: async ({ folder, name }) => {
      await (await fileSystem.open(join(folder, name), "create")).close();
      return { close: () => fileSystem.unlink(join(folder, name)) };
    },
    ping: async ({ folder, name }) => ({
      kind: (await fileSystem.readdir(folder)).includes(name) ? "refused" : "unreachable",
    }),
  };
  const random = createSeededRandom(`presence ${verb}`);
  return createModelStore(fileSystem, { parts: { presence: modelled, random } })[verb]("task");
}

/** A machine that is no container. */
const WHOLE = placeOf("boot-a");

async function stateSeen(knock: PingResult, machine?: Machine, owner: Partial<Place> = {}): Promise<OwnerState> {
  const fileSystem = new ModelFileSystem();
  const store = createModelStore(fileSystem, { parts: { presence: fixedPresence(knock), machine } });
  const task = await store.createTask("task");
  await task?.announce({ ...FACTS, ...owner });
  return (await task?.ownerState()) ?? { state: "none" };
}

describe("ownerState", () => {
  it("is alive with the facts of the answer when the door is answered", async () => {
    expect(await stateSeen({ kind: "answered", text: "not a record" }, HERE)).toEqual({
      state: "alive",
      owner: FACTS,
      counter: 1,
    });
  });

  it("is gone behind a door that cannot be reached where its own machine says that its process has ended", async () => {
    for (const [hasEnded, state] of [
      [true, "gone"],
      [false, "unclear"],
    ] as const)
      expect(await stateSeen({ kind: "unreachable" }, { ...HERE, hasEnded: async () => hasEnded })).toMatchObject({
        state,
        owner: FACTS,
      });
  });

  it("is gone when the door refuses on the kernel that the owner ran on", async () => {
    expect((await stateSeen({ kind: "refused" }, HERE)).state).toBe("gone");
    expect((await stateSeen({ kind: "refused" }, { ...HERE, host: "container-b", namespace: "pid:[2]" })).state).toBe(
      "gone",
    );
    expect((await stateSeen({ kind: "refused" })).state).toBe("gone");
  });

  it("is unclear when the door refuses on another machine, or cannot be reached", async () => {
    expect((await stateSeen({ kind: "refused" }, { ...HERE, host: "host-b", bootId: "boot-b" })).state).toBe("unclear");
    expect(await stateSeen({ kind: "unreachable" }, HERE)).toEqual({ state: "unclear", owner: FACTS, counter: 1 });
  });

  it("[reliability 1a] is alive when the door is answered, whatever boot its record tells of", async () => {
    const clone = { ...WHOLE, bootId: "boot-b" };
    expect(await stateSeen({ kind: "answered", text: "" }, clone, WHOLE)).toMatchObject({ state: "alive" });
  });

  it("[reliability 1a kin] is gone with its machine's last boot, and to be watched, when nobody answers", async () => {
    const booted = { ...WHOLE, bootId: "boot-b" };
    for (const kind of ["refused", "unreachable"] as const)
      expect(await stateSeen({ kind }, booted, WHOLE)).toMatchObject({ state: "gone", hasBooted: true });
  });

  it("[reliability 1a kin] is unclear on a machine that shares no more than the host's name", async () => {
    const namesake = { ...WHOLE, machineId: "machine-b", bootId: "boot-b" };
    expect((await stateSeen({ kind: "refused" }, namesake, WHOLE)).state).toBe("unclear");
    const nameless = { ...WHOLE, machineId: "", bootId: "boot-b" };
    expect((await stateSeen({ kind: "refused" }, nameless, { ...WHOLE, machineId: "" })).state).toBe("unclear");
  });

  it("[reliability 1a kin] is unclear in a container whose image brings the machine's identity along", async () => {
    const pod = { ...WHOLE, namespace: "pid:[4026532000]" };
    expect((await stateSeen({ kind: "refused" }, { ...pod, bootId: "boot-b" }, pod)).state).toBe("unclear");
  });

  it("[reliability 1a kin] is unclear behind a door that refuses while its process runs here", async () => {
    const alive = { ...WHOLE, hasEnded: async () => false };
    expect((await stateSeen({ kind: "refused" }, alive, WHOLE)).state).toBe("unclear");
  });

  it("never leaves its end unclear, wherever it dies while it announces or withdraws", async () => {
    const before = new ModelFileSystem();
    await (await modelTask(before, "createTask"))?.announce(FACTS);
    const fileSystem = new FaultyFileSystem({ disk: before.disk });
    await (await (await modelTask(fileSystem, "task"))?.announce({ ...FACTS, pid: 2 }))?.close();
    const states: string[] = [];
    for (let k = 0; k <= fileSystem.operationCount; k += 1) {
      const after = new ModelFileSystem(fileSystem.imageAt(k, { kind: "kill" }));
      states.push((await (await modelTask(after, "task"))?.ownerState())?.state ?? "");
    }
    expect(states.length).toBeGreaterThan(10);
    expect(states.at(-1)).toBe("none");
    expect(new Set(states)).toEqual(new Set(["gone", "none"]));
  });

  it("is unclear, without facts, when the record cannot be read as one", async () => {
    await withFolder(async (root) => {
      const task = await createRealStore(root).createTask("task");
      const bad = ["", "{", "[]", "{}", '{"format":"splashdown.owner"}', "x".repeat(20_000)];
      const good = { format: "splashdown.owner", version: "1.0", facts: FACTS, counter: 1 };
      bad.push(JSON.stringify({ ...good, counter: 1.5 }), JSON.stringify({ ...good, facts: { pid: 1 } }));
      for (const text of bad) {
        await writeFile(join(root, "task/checkpoints/owner-00000000"), text, { mode: 0o600 });
        expect([text.slice(0, 60), await task?.ownerState()]).toEqual([text.slice(0, 60), { state: "unclear" }]);
      }
      const traversal = JSON.stringify({ ...good, socket: "../../../tmp/other.sock" });
      await writeFile(join(root, "task/checkpoints/owner-00000000"), traversal, { mode: 0o600 });
      expect((await task?.ownerState())?.state).toBe("unclear");
    });
  });
});

describe("presence over sockets", () => {
  it("tells alive from gone from none, and leaves neither socket nor record behind", async () => {
    await withFolder(async (root) => {
      const task = await createRealStore(root, { presence }).createTask("task");
      const handle = await task?.announce(FACTS);
      const watching = await createRealStore(root, { presence }).task("task");
      expect(await watching?.ownerState()).toEqual({ state: "alive", owner: FACTS, counter: 1 });
      await handle?.beat();
      expect(await watching?.ownerState()).toEqual({ state: "alive", owner: FACTS, counter: 2 });
      const names = await readdir(join(root, "task/checkpoints"));
      const socket = names.find((name) => name.endsWith(".sock")) ?? "";
      expect((await stat(join(root, "task/checkpoints", socket))).mode & 0o777).toBe(0o600);
      await handle?.close();
      expect(await watching?.ownerState()).toEqual({ state: "none" });
      expect(await readdir(join(root, "task/checkpoints"))).toEqual(["journal"]);
    });
  });

  it("R14: is not hidden by an owner of an earlier epoch that announces itself late, nor by its end", async () => {
    await withFolder(async (root) => {
      const task = await createRealStore(root, { presence }).createTask("task");
      const later = await task?.announce({ ...FACTS, pid: 2, epoch: 3 });
      const earlier = await task?.announce({ ...FACTS, pid: 1, epoch: 2 });
      const watching = await createRealStore(root, { presence }).task("task");
      expect(await watching?.ownerState()).toMatchObject({ state: "alive", owner: { pid: 2, epoch: 3 } });
      await earlier?.beat();
      await earlier?.close();
      expect(await watching?.ownerState()).toMatchObject({ state: "alive", owner: { pid: 2, epoch: 3 } });
      await later?.close();
      expect(await watching?.ownerState()).toEqual({ state: "none" });
    });
  });

  it("works in a folder whose path is longer than a socket's name may be", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "long".repeat(20), "deep".repeat(20));
      const task = await createRealStore(root, { presence }).createTask("task");
      const handle = await task?.announce(FACTS);
      const expected = process.platform === "linux" ? "alive" : "unclear";
      expect((await task?.ownerState())?.state).toBe(expected);
      await handle?.close();
      expect((await readdir(join(root, "task/checkpoints"))).filter((name) => name.endsWith(".sock"))).toEqual([]);
    });
  });

  it("sees a process that was killed as gone, and the next owner sweeps its socket", async () => {
    await withFolder(async (root) => {
      const task = await createRealStore(root, { presence }).createTask("task");
      const socket = "owner-00000000-0011223344556677.sock";
      const program = `require("node:net").createServer(() => {}).listen(process.argv[1], () => console.log("up"))`;
      const child = spawn(process.execPath, ["-e", program, join(root, "task/checkpoints", socket)]);
      await once(child.stdout, "data");
      const record = { format: "splashdown.owner", version: "1.0", facts: FACTS, counter: 7, socket };
      await writeFile(join(root, "task/checkpoints/owner-00000000"), JSON.stringify(record), { mode: 0o600 });
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      expect(await task?.ownerState()).toEqual({ state: "gone", owner: FACTS, counter: 7 });
      const handle = await task?.announce({ ...FACTS, pid: 2 });
      expect((await readdir(join(root, "task/checkpoints"))).filter((name) => name === socket)).toEqual([]);
      await handle?.close();
    });
  });

  it("takes a stopped owner that lets callers in but says nothing for alive, after two seconds", async () => {
    await withFolder(async (folder) => {
      const program = `require("node:net").createServer(() => {}).listen(process.argv[1], () => console.log("up"))`;
      const child = spawn(process.execPath, ["-e", program, join(folder, "silent.sock")]);
      await once(child.stdout, "data");
      const clock = new FakeClock();
      const knocking = createSocketPresence({ clock, platform: process.platform }).ping({
        folder,
        name: "silent.sock",
      });
      let result: PingResult | undefined;
      void knocking.then((found) => (result = found));
      await until("a timer is set", () => clock.pendingCount === 1);
      // The connection itself takes a turn of the event loop or two.
      for (let turn = 0; turn < 50; turn += 1) await flushReactions();
      await until("the timeout ends the knock", async () => {
        await clock.advance(2000);
        return result !== undefined;
      });
      expect(result).toEqual({ kind: "answered", text: "" });
      child.kill("SIGKILL");
    });
  });

  it.runIf(process.platform === "linux")("takes an owner too busy to let everybody in for alive", async () => {
    await withFolder(async (folder) => {
      const server = createServer((socket) => void socket.on("error", () => undefined).end("busy"));
      server.listen({ path: join(folder, "a.sock"), backlog: 1 });
      await once(server, "listening");
      // All at once: nobody is let in before the last of them has knocked.
      const knocks = await Promise.all(Array.from({ length: 8 }, () => presence.ping({ folder, name: "a.sock" })));
      expect(new Set(knocks.map((knock) => knock.kind))).toEqual(new Set(["answered"]));
      expect(knocks).toContainEqual({ kind: "answered", text: "" });
      server.close();
    });
  });

  it("writes its record again over one that nobody can read", async () => {
    await withFolder(async (root) => {
      const task = await createRealStore(root, { presence }).createTask("task");
      const handle = await task?.announce(FACTS);
      await writeFile(join(root, "task/checkpoints/owner-00000000"), "damaged", { mode: 0o600 });
      expect(await task?.ownerState()).toEqual({ state: "unclear" });
      await handle?.beat();
      expect(await task?.ownerState()).toMatchObject({ state: "alive", counter: 2 });
      await handle?.close();
    });
  });

  it("ends in good order while a caller keeps its end open", async () => {
    await withFolder(async (folder) => {
      const listener = await presence.listen({ folder, name: "a.sock" }, () => "hello");
      const caller = createConnection({ path: join(folder, "a.sock"), allowHalfOpen: true });
      const [said] = (await once(caller, "data")) as [Buffer];
      await listener?.close();
      expect(said.toString()).toBe("hello");
      caller.destroy();
    });
  });

  it("cannot listen where there is no folder", async () => {
    await withFolder(async (folder) => {
      for (const missing of ["absent", "absent".repeat(30)]) {
        await expect(presence.listen({ folder: join(folder, missing), name: "a" }, () => "")).rejects.toThrow(
          /EACCES|ENOENT|ENOTDIR/,
        );
      }
    });
  });

  it("cannot reach a missing socket or a folder that is not there, and makes none on Windows", async () => {
    await withFolder(async (folder) => {
      const door = { folder, name: "owner-00000000-0011223344556677.sock" };
      expect(await presence.ping(door)).toEqual({ kind: "unreachable" });
      expect(await presence.ping({ folder: join(folder, "x".repeat(120)), name: "a" })).toEqual({
        kind: "unreachable",
      });
      await mkdir(join(folder, door.name));
      expect(await presence.ping(door)).not.toEqual({ kind: "answered", text: "" });
      const onWindows = createSocketPresence({ clock: realClock, platform: "win32" });
      expect(await onWindows.listen(door, () => "")).toBe(undefined);
      const onMac = createSocketPresence({ clock: realClock, platform: "darwin" });
      expect(await onMac.listen({ folder: join(folder, "x".repeat(120)), name: "a" }, () => "")).toBe(undefined);
    });
  });

  it("goes on without a socket and without a record when neither can be made", async () => {
    await withFolder(async (root) => {
      const refusing: PresencePort = {
        listen: async () => {
          throw new Error("no sockets here");
        },
        ping: async () => ({ kind: "unreachable" }),
      };
      const task = await createRealStore(root, { presence: refusing }).createTask("task");
      await mkdir(join(root, "task/checkpoints/owner-00000000"));
      const facts: OwnerFacts = { ...FACTS };
      const handle = await task?.announce(facts);
      await handle?.beat();
      await handle?.close();
      await expect(task?.ownerState()).rejects.toMatchObject({ code: "STORE_UNSAFE" });
    });
  });
});

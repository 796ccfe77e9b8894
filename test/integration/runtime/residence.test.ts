import { cpSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { OpenOptions } from "../../../src/runtime/open.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { openTalk } from "../../support/mcp-talk.js";
import { createOwnEnvironment } from "../../support/own-environment.js";
import { openFolder } from "../../support/temporary-folder.js";

/** A gate stands between the two payments, so the task waits with one of them made. */
const PAY = {
  workflow: { name: "pay" },
  steps: [
    { name: "p1", command: ["sh", "-c", "echo p1 >> ledger"], effects: "external" },
    {
      name: "ask",
      type: "human_gate",
      prompt: "continue?",
      options: [{ label: "yes", value: "yes" }],
      depends_on: ["p1"],
    },
    { name: "p2", command: ["sh", "-c", "echo p2 >> ledger"], effects: "external", depends_on: ["ask"] },
  ],
};

class Place {
  readonly folder = openFolder();
  readonly file = this.write("pay.json", JSON.stringify(PAY));

  write(name: string, text: string): string {
    writeFileSync(join(this.folder, name), text);
    return join(this.folder, name);
  }

  /** `machine`: another one has another state folder. */
  async open(options: OpenOptions = {}, machine = "state"): Promise<Splashdown> {
    const more = { PATH: process.env["PATH"] ?? "", SPLASHDOWN_STATE_DIR: join(this.folder, machine) };
    const splashdown = await openSplashdown({ environment: createOwnEnvironment(this.folder, more), ...options });
    onTestFinished(() => splashdown.close());
    return splashdown;
  }

  /** Tasks that wait with one payment made. */
  async begin(...names: string[]): Promise<Splashdown> {
    const splashdown = await this.open();
    for (const task of names) await splashdown.run({ workflow: this.file, task });
    return splashdown;
  }

  at(name: string): string {
    return join(this.folder, "outputs", name);
  }

  copy(from: string, to: string): void {
    cpSync(this.at(from), this.at(to), { recursive: true });
  }

  rename(from: string, to: string): void {
    renameSync(this.at(from), this.at(to));
  }

  payments(): string[] {
    return readFileSync(join(this.folder, "ledger"), "utf8").trim().split("\n");
  }
}

const TWIN = { code: "TASK_TWIN", exitStatus: 15 };

describe("two names with one uuid", () => {
  it("[security H4 d] one acts, and the copy is refused by name, unasked and asked", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    place.copy("x", "y");
    await splashdown.answer({ task: "x", answer: "yes" });
    // The answer lies in both copies.
    place.copy("x", "z");
    const { tasks } = await splashdown.recover();
    expect(tasks.map(({ task, action }) => [task, action])).toEqual([
      ["x", "taken_up"],
      ["y", "left"],
      ["z", "left"],
    ]);
    expect(tasks[2]?.why).toMatch(/same task as x in file:.*outputs/);
    await expect(splashdown.resume({ task: "z" })).rejects.toMatchObject(TWIN);
    await expect(splashdown.run({ workflow: place.file, task: "z" })).rejects.toMatchObject(TWIN);
    expect(place.payments()).toEqual(["p1", "p2"]);
  });

  it("[security H4 d kin] every acting verb refuses the copy, and every reading one says whose it is", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    place.copy("x", "y");
    const acts = [
      () => splashdown.answer({ task: "y", answer: "yes" }),
      () => splashdown.fork("y", { from: "latest" }),
      () => splashdown.guide({ task: "y", text: "on" }),
      () => splashdown.request("y", "stop"),
      () => splashdown.resume({ task: "y", answer: "yes" }),
      () => splashdown.keys.rotate({ task: "y" }, { taskKey: true }),
      () => splashdown.checkpoints.prune({ task: "y" }),
    ];
    for (const act of acts) await expect(act()).rejects.toMatchObject(TWIN);
    expect(await splashdown.list("y")).toMatchObject([{ lives_as: { task: "x" } }]);
    expect(await splashdown.show("y")).toMatchObject({ lives_as: { task: "x" } });
    expect(await splashdown.show("x")).not.toHaveProperty("lives_as");
    expect(place.payments()).toEqual(["p1"]);
  });

  it("[security H4 d kin] both at once: of two processes that find two copies, one acts", async () => {
    const place = new Place();
    const first = await place.begin("x");
    await first.answer({ task: "x", answer: "yes" });
    place.copy("x", "y");
    // A machine that knows neither of them.
    const [one, other] = [await place.open({}, "elsewhere"), await place.open({}, "elsewhere")];
    const ends = await Promise.allSettled([one.resume({ task: "x" }), other.resume({ task: "y" })]);
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(ends.find(({ status }) => status === "rejected")).toMatchObject({ reason: TWIN });
    expect(place.payments()).toEqual(["p1", "p2"]);
  });

  it("[security H4 d kin] a copy in another store and one in another folder are refused as one beside it is", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.store.copy({ from: "file:outputs", to: "sqlite:other.db" });
    cpSync(place.at(""), join(place.folder, "backup"), { recursive: true });
    for (const store of ["sqlite:other.db", "file:backup"]) {
      const other = await place.open({ store });
      await expect(other.resume({ task: "x", answer: "yes" })).rejects.toMatchObject(TWIN);
      expect((await other.recover()).tasks).toMatchObject([{ action: "left" }]);
    }
    await splashdown.resume({ task: "x", answer: "yes" });
    expect(place.payments()).toEqual(["p1", "p2"]);
  });

  it("[security H4 d kin] a person may say that the copy is the task from now on, and then the original is refused", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.store.copy({ from: "file:outputs", to: "sqlite:other.db" });
    const other = await place.open({ store: "sqlite:other.db" });
    expect(await other.resume({ task: "x", answer: "yes", here: true })).toMatchObject({ status: "done" });
    await expect(splashdown.resume({ task: "x", answer: "yes" })).rejects.toMatchObject(TWIN);
    expect(place.payments()).toEqual(["p1", "p2"]);
  });

  it("[security H4 d kin] where the original was removed, the copy goes on when a person resumes it", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    place.copy("x", "y");
    await splashdown.store.remove(["x"]);
    expect((await splashdown.recover()).tasks).toMatchObject([{ task: "y", action: "left" }]);
    expect(await splashdown.resume({ task: "y", answer: "yes" })).toMatchObject({ status: "done" });
    await splashdown.store.restore(["x"]);
    await expect(splashdown.resume({ task: "x", answer: "yes" })).rejects.toMatchObject(TWIN);
  });
});

describe("a task in another's place", () => {
  const DISPLACED = { code: "TASK_DISPLACED", exitStatus: 15 };

  it("[kinds F15] checkpoints of X under the name of Y are refused", async () => {
    const place = new Place();
    const splashdown = await place.begin("x", "y");
    rmSync(join(place.at("y"), "checkpoints"), { recursive: true });
    renameSync(join(place.at("x"), "checkpoints"), join(place.at("y"), "checkpoints"));
    await expect(splashdown.resume({ task: "y", answer: "yes" })).rejects.toMatchObject(DISPLACED);
    await expect(splashdown.answer({ task: "y", answer: "yes" })).rejects.toMatchObject(DISPLACED);
    expect(await splashdown.list("y")).toMatchObject([{ lives_as: { task: "x" } }]);
    expect(place.payments()).toEqual(["p1", "p1"]);
  });

  it("[kinds F15 kin] folders that were exchanged are both refused, and go on when they are put back", async () => {
    const place = new Place();
    const splashdown = await place.begin("x", "y");
    const exchange = () => {
      place.rename("x", "aside");
      place.rename("y", "x");
      place.rename("aside", "y");
    };
    exchange();
    for (const task of ["x", "y"])
      await expect(splashdown.resume({ task, answer: "yes" })).rejects.toMatchObject(DISPLACED);
    exchange();
    expect(await splashdown.resume({ task: "x", answer: "yes" })).toMatchObject({ status: "done" });
  });

  it("[kinds F15 kin] checkpoints that were copied over another's are refused as a copy", async () => {
    const place = new Place();
    const splashdown = await place.begin("x", "y");
    rmSync(join(place.at("y"), "checkpoints"), { recursive: true });
    cpSync(join(place.at("x"), "checkpoints"), join(place.at("y"), "checkpoints"), { recursive: true });
    await expect(splashdown.resume({ task: "y", answer: "yes" })).rejects.toMatchObject(TWIN);
    expect(await splashdown.resume({ task: "x", answer: "yes" })).toMatchObject({ status: "done" });
  });

  it("[kinds F15 kin] exchanged folders are refused on a machine that knows neither of them", async () => {
    const place = new Place();
    await place.begin("x", "y");
    place.rename("x", "aside");
    place.rename("y", "x");
    place.rename("aside", "y");
    const stranger = await place.open({}, "elsewhere");
    for (const task of ["x", "y"])
      await expect(stranger.resume({ task, answer: "yes" })).rejects.toMatchObject(DISPLACED);
    expect(await stranger.resume({ task: "y", answer: "yes", here: true })).toMatchObject({ status: "done" });
  });

  it("[kinds F15 kin] a renamed task waits for a person, who is told, and then has its new name", async () => {
    const place = new Place();
    const told: string[] = [];
    const log = { info: () => undefined, warn: (text: string) => void told.push(text), debug: () => undefined };
    await place.begin("x");
    const splashdown = await place.open({ log });
    await splashdown.answer({ task: "x", answer: "yes" });
    place.rename("x", "new-name");
    expect((await splashdown.recover()).tasks).toMatchObject([{ action: "left" }]);
    expect(await splashdown.resume({ task: "new-name" })).toMatchObject({ status: "done" });
    expect(told.join("\n")).toContain("it was x until now");
    place.rename("new-name", "x");
    expect(await splashdown.list("x")).toMatchObject([{ lives_as: { task: "new-name" } }]);
  });

  it("[kinds F15 kin] a name that was free again and taken does not stand in the way of the renamed task", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    place.rename("x", "z");
    await splashdown.run({ workflow: place.file, task: "x", fresh: true });
    expect(await splashdown.resume({ task: "z", answer: "yes" })).toMatchObject({ status: "done" });
  });
});

describe("a store that was moved whole", () => {
  it("goes on where it is now, unasked", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.answer({ task: "x", answer: "yes" });
    renameSync(place.at(""), join(place.folder, "moved"));
    const moved = await place.open({ store: "file:moved" });
    expect((await moved.recover()).tasks).toMatchObject([{ task: "x", action: "taken_up" }]);
  });

  it("is at home by another path, too", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.answer({ task: "x", answer: "yes" });
    symlinkSync(place.at(""), join(place.folder, "link"));
    const linked = await place.open({ store: "file:link" });
    expect((await linked.recover()).tasks).toMatchObject([{ task: "x", action: "taken_up" }]);
  });
});

describe("what this machine never ran", () => {
  it("[security M6] an imported task names its programs and waits for a person", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.answer({ task: "x", answer: "yes" });
    await splashdown.checkpoints.export("x", { file: join(place.folder, "x.bundle") });
    const other = await place.open({ store: "file:theirs" }, "elsewhere");
    const view = await other.checkpoints.import(join(place.folder, "x.bundle"));
    expect(view.programs).toEqual(["command sh -c echo p1 >> ledger", "command sh -c echo p2 >> ledger"]);
    expect(await other.list()).toMatchObject([{ task: "x", new_here: true }]);
    expect(await other.show("x")).toMatchObject({ new_here: true, programs: view.programs });
    expect((await other.recover()).tasks).toMatchObject([{ task: "x", action: "left" }]);
    await expect(other.run({ workflow: place.file })).rejects.toMatchObject({ code: "TASK_NEW_HERE", exitStatus: 20 });
    expect(place.payments()).toEqual(["p1"]);
    expect(await other.resume({ task: "x" })).toMatchObject({ status: "done" });
    expect(await other.show("x")).not.toHaveProperty("new_here");
    expect(place.payments()).toEqual(["p1", "p2"]);
  });

  it("[security M6 kin] a task that was imported again after it was deleted waits for a person all the same", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.answer({ task: "x", answer: "yes" });
    await splashdown.checkpoints.export("x", { file: join(place.folder, "x.bundle") });
    rmSync(place.at("x"), { recursive: true });
    await splashdown.checkpoints.import(join(place.folder, "x.bundle"));
    expect(await splashdown.list()).toMatchObject([{ new_here: true }]);
    expect((await splashdown.recover()).tasks).toMatchObject([{ action: "left" }]);
    expect(place.payments()).toEqual(["p1"]);
  });

  it("[security M6 kin] a folder that was copied in waits, in files and in SQLite", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.answer({ task: "x", answer: "yes" });
    await splashdown.store.copy({ from: "file:outputs", to: "sqlite:other.db" });
    for (const store of ["file:outputs", "sqlite:other.db"]) {
      const stranger = await place.open({ store }, `machine of ${store.slice(0, 4)}`);
      expect(await stranger.list()).toMatchObject([{ task: "x", new_here: true }]);
      expect((await stranger.recover()).tasks).toMatchObject([{ action: "left" }]);
      await expect(stranger.run({ workflow: place.file })).rejects.toMatchObject({ code: "TASK_NEW_HERE" });
      await expect(stranger.run({ workflow: place.file, task: "x" })).rejects.toMatchObject({ code: "TASK_NEW_HERE" });
    }
    expect(place.payments()).toEqual(["p1"]);
  });

  it("[security M6 kin] goes on unasked where the setting or the flag says so, and only from outside the task", async () => {
    const place = new Place();
    const splashdown = await place.begin("x", "y");
    for (const task of ["x", "y"]) await splashdown.answer({ task, answer: "yes" });
    const once = await place.open({}, "second");
    expect((await once.recover({ newHere: true })).tasks).toMatchObject([
      { action: "taken_up" },
      { action: "taken_up" },
    ]);
    const other = new Place();
    await (await other.begin("z")).answer({ task: "z", answer: "yes" });
    const variables = {
      SPLASHDOWN_RECOVERY_NEW_HERE: "resume",
      SPLASHDOWN_STATE_DIR: join(other.folder, "third"),
      PATH: process.env["PATH"] ?? "",
    };
    const always = await other.open({ environment: createOwnEnvironment(other.folder, variables) });
    expect((await always.recover()).tasks).toMatchObject([{ task: "z", action: "taken_up" }]);
  });

  it("[security M6 kin] an import over a task that lives elsewhere takes nothing from it", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.checkpoints.export("x", { file: join(place.folder, "x.bundle") });
    const other = await place.open({ store: "file:theirs" });
    await other.checkpoints.import(join(place.folder, "x.bundle"));
    await expect(other.resume({ task: "x", answer: "yes" })).rejects.toMatchObject(TWIN);
    expect(await splashdown.resume({ task: "x", answer: "yes" })).toMatchObject({ status: "done" });
  });

  it("[security M6 kin] an agent is no person: over MCP nobody goes on with it", async () => {
    const place = new Place();
    const splashdown = await place.begin("x");
    await splashdown.answer({ task: "x", answer: "yes" });
    const talk = await openTalk(place.folder, { splashdown: await place.open({}, "elsewhere") });
    await talk.greet("agent");
    const told = JSON.stringify(await talk.call("resume_task", { task: "x" }));
    expect(told).toContain("TASK_NEW_HERE");
    expect(place.payments()).toEqual(["p1"]);
  });
});

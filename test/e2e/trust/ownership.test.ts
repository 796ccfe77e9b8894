/** Who may write to a task when several processes want it: one wins, the others say who, and nobody writes over anybody. */
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../../support/real-clock.js";
import { crashSample, errorOf, letGo, Place, readLedger, removePlaces, SAMPLE_OUTPUT, writeSample } from "./place.js";

afterAll(removePlaces);

const TASK = "wanted";
const OWNED_BY = /process \d+ on \S+ since \d{4}-\d\d-\d\dT/;

/** A task whose owner runs and waits in its last step. */
async function startOwner(effects = "none") {
  const place = new Place();
  const file = writeSample(place, "hold", effects);
  const owner = place.start(["run", file, "--task", TASK, "--json"]);
  await until("the last step runs", () => readLedger(place).includes("delta"));
  await until("no snapshot is on its way", () => isSettled(place));
  return { place, file, owner };
}

/** The newest checkpoint has its file, and the history says so: nothing is being written beside the step any more. */
async function isSettled(place: Place): Promise<boolean> {
  const events = (await place.run(["events", TASK, "--json"])).json<{ type: string }[]>().map(({ type }) => type);
  return events.lastIndexOf("snapshot_written") > events.lastIndexOf("checkpoint_recorded");
}

describe("many processes at one crashed task", () => {
  it("lets exactly one of eight go on; the others leave with 11 and say who it is", async () => {
    const place = new Place();
    await crashSample(place, TASK, "external");
    const attempts = Array.from({ length: 8 }, () => place.start(["resume", TASK, "--on-unknown", "rerun", "--json"]));
    await until(
      "all but the winner have left",
      () => attempts.filter(({ child }) => child.exitCode !== null).length === 7,
    );
    const winner = attempts.find(({ child }) => child.exitCode === null);
    letGo(place);
    const results = await Promise.all(attempts.map(({ done }) => done));
    expect(results.map(({ code }) => code).sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual([
      0, 11, 11, 11, 11, 11, 11, 11,
    ]);
    const won = results.find(({ code }) => code === 0)?.json<{ output: unknown }>();
    expect(won?.output).toEqual(SAMPLE_OUTPUT);
    for (const result of results.filter(({ code }) => code === 11)) {
      expect(errorOf(result).message).toMatch(OWNED_BY);
      expect(errorOf(result).message).toContain(`process ${winner?.pid} `);
    }
    // The crashed attempt and the winner's: nobody else began the last step.
    expect(readLedger(place).filter((line) => line === "delta")).toHaveLength(2);
  });

  it("recovers each of several tasks once when several recover at a time", async () => {
    const place = new Place();
    for (const task of ["one", "two", "three"]) await crashSample(place, task);
    letGo(place);
    const before = readLedger(place).length;
    const results = await Promise.all(Array.from({ length: 4 }, () => place.run(["recover", "--json"])));
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const actions = results.flatMap((result) => result.json<{ tasks: { task: string; action: string }[] }>().tasks);
    expect(
      actions
        .filter(({ action }) => action === "taken_up")
        .map(({ task }) => task)
        .sort(),
    ).toEqual(["one", "three", "two"]);
    expect(readLedger(place).slice(before)).toEqual(["delta", "delta", "delta"]);
  });
});

describe("a living owner", () => {
  it("is named to everybody who wants to act, is left alone by recover, and can be looked at", async () => {
    const { place, file, owner } = await startOwner();
    for (const verb of [
      ["resume", TASK],
      ["resume", TASK, "--take-over"],
      ["run", file, "--task", TASK],
    ]) {
      const result = await place.run([...verb, "--json"]);
      expect([verb.join(" "), result.code, errorOf(result).code]).toEqual([verb.join(" "), 11, "OWNER_ALIVE"]);
      expect(errorOf(result).message).toContain(`process ${owner.pid} on `);
      expect(errorOf(result).message).toMatch(OWNED_BY);
    }
    const recovered = await place.run(["recover", "--json"]);
    expect([recovered.code, recovered.json<{ tasks: { action: string }[] }>().tasks[0]?.action]).toEqual([0, "left"]);
    const shown = (await place.run(["show", TASK, "--json"])).json<{ status: string; owner: { pid: number } }>();
    expect([shown.status, shown.owner.pid]).toEqual(["running", owner.pid]);
    letGo(place);
    expect((await owner.done).json<{ output: unknown }>().output).toEqual(SAMPLE_OUTPUT);
    expect(readLedger(place).filter((line) => line === "delta")).toHaveLength(1);
  });

  it("is not taken over while it is frozen, not even on demand", async () => {
    const { place, owner } = await startOwner();
    owner.child.kill("SIGSTOP");
    const before = place.fingerprint("outputs");
    for (const more of [[], ["--take-over"]]) {
      const result = await place.run(["resume", TASK, ...more, "--json"]);
      expect([result.code, errorOf(result).code]).toEqual([11, "OWNER_ALIVE"]);
    }
    expect(place.fingerprint("outputs")).toEqual(before);
    owner.child.kill("SIGCONT");
    letGo(place);
    expect((await owner.done).code).toBe(0);
  });
});

describe("an owner that is gone", () => {
  it("is succeeded at once after a kill", async () => {
    const place = new Place();
    await crashSample(place, TASK);
    letGo(place);
    const result = await place.run(["resume", TASK, "--json"]);
    expect([result.code, result.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
  });

  it("is seen from another process namespace: living as alive, dead as gone", async (context) => {
    const { place, owner } = await startOwner();
    const inside = (words: readonly string[]) =>
      place.runProgram("unshare", [
        "--pid",
        "--fork",
        "--mount-proc",
        process.execPath,
        place.program,
        ...words,
        "--json",
      ]);
    const alive = await inside(["resume", TASK]);
    if (alive.stderr.startsWith("unshare:")) {
      owner.child.kill("SIGKILL");
      context.skip(`no process namespace can be made here: ${alive.stderr}`);
    }
    expect([alive.code, errorOf(alive).code]).toEqual([11, "OWNER_ALIVE"]);
    expect(errorOf(alive).message).toContain(`process ${owner.pid} on `);
    owner.child.kill("SIGKILL");
    await owner.done;
    letGo(place);
    const taken = await inside(["resume", TASK]);
    expect([taken.code, taken.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
  });
});

describe("a superseded owner", () => {
  it("writes nothing that counts and starts nothing; what its step gave is offered as the answer", async () => {
    const { place, owner } = await startOwner("external");
    owner.child.kill("SIGSTOP");
    letGo(place);
    await until("the step has ended", () => readFileSync(place.path("project", "ended.txt"), "utf8").includes("delta"));
    // Its door is gone, as on a shared folder: nobody can tell whether it lives.
    for (const name of readdirSync(place.checkpoints(TASK))) {
      if (name.endsWith(".sock")) rmSync(place.checkpoints(TASK, name));
    }
    const taken = await place.run(["resume", TASK, "--take-over", "--json"]);
    expect([taken.code, taken.json<{ status: string }>().status]).toEqual([22, "waiting"]);
    const before = place.fingerprint("outputs").filter((line) => !line.includes("/00000001-0000.jsonl "));
    owner.child.kill("SIGCONT");
    const left = await owner.done;
    expect([left.code, errorOf(left).code]).toEqual([11, "OWNER_SUPERSEDED"]);
    expect(place.fingerprint("outputs").filter((line) => !line.includes("/00000001-0000.jsonl "))).toEqual(before);

    const offered = await place.run(["resume", TASK, "--json"]);
    expect(offered.code).toBe(22);
    const shown = (await place.run(["show", TASK, "--json"])).json<{
      questions: { status: string; offered: unknown }[];
      decisions: { type: string; description: string }[];
    }>();
    const told =
      "main/write/delta was completed too late by the owner of epoch 1 (attempt 1); it is kept, and offered as";
    expect(shown.decisions.filter(({ type }) => type === "orphan_completion")).toMatchObject([
      { description: expect.stringContaining(told) as unknown },
    ]);
    expect((await place.run(["events", TASK])).stdout).toContain(told);
    const audit = (await place.run(["audit", "show", TASK, "--json"])).json<{
      entries: { event: string; details: object }[];
    }>();
    expect(audit.entries.findLast(({ event }) => event === "resumed")?.details).toMatchObject({
      epoch: 3,
      orphan_completions: [{ step: "main/write/delta@1.1", attempt: 1, epoch: 1 }],
    });
    expect(shown.questions.filter(({ status }) => status === "open").map(({ offered: value }) => value)).toEqual([
      { name: "delta", text: "output-canary-delta" },
    ]);
    const done = await place.run(["resume", TASK, "--answer", "done", "--json"]);
    expect([done.code, done.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
    expect(readLedger(place).filter((line) => line === "delta")).toHaveLength(1);
  });
});

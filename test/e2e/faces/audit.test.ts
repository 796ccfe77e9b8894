/** Who did what to a task: told by the program, found out when somebody changes it. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

interface Shown {
  readonly entries: readonly {
    readonly event: string;
    readonly verb: string;
    readonly by: string;
    readonly details?: object;
  }[];
}

const withConfidence = (confidence: number): string =>
  JSON.stringify({
    workflow: { name: "w" },
    phases: [
      {
        name: "look",
        specialists: [
          {
            name: "guess",
            command: ["node", "-e", `console.log('{"output":1,"confidence":${confidence}}')`],
            effects: "none",
          },
        ],
      },
    ],
  });
const SURE = withConfidence(0.95);
const UNSURE = withConfidence(0.1);

async function runTask(place: CommandPlace, text = SURE): Promise<string> {
  place.write("w.yaml", text);
  await place.run(["run", "w.yaml", "--task", "t"]);
  return join(place.folder, "outputs/t/checkpoints/audit");
}

const fileOf = (folder: string, n: number): string => join(folder, `${String(n).padStart(8, "0")}.jsonl`);

async function eventsOf(place: CommandPlace, env = {}): Promise<string[]> {
  const { json } = await place.run(["--json", "audit", "show", "t"], { env });
  return json<Shown>().entries.map(({ event, verb }) => `${event} ${verb}`);
}

const verify = (place: CommandPlace) => place.run(["--json", "audit", "verify", "t"]);

describe("audit", () => {
  it("tells who started, read, and tried with a wrong key; without the key the details stay hidden", async () => {
    const place = openPlace();
    await runTask(place);
    await place.run(["show", "t"]);
    await place.run(["debug", "replay", "--checkpoint", "t:1"]);
    const wrong = { SPLASHDOWN_KEY: Buffer.alloc(32, 9).toString("base64") };
    expect((await place.run(["show", "t"], { env: wrong })).code).toBe(12);
    const told = [
      "unlocked run",
      "started run",
      "unlocked show",
      "read show",
      "unlocked debug replay",
      "read debug replay",
      "unlock_failed show",
    ];
    expect(await eventsOf(place)).toEqual(told);
    expect(await eventsOf(place, wrong)).toEqual(told);
    const open = (await place.run(["--json", "audit", "show", "t"])).json<Shown>();
    expect(open.entries[5]).toMatchObject({ by: "tester", details: { seq: 1 } });
    const hidden = (await place.run(["--json", "audit", "show", "t"], { env: wrong })).json<Shown>();
    expect(hidden.entries[1]).toMatchObject({ event: "started", verb: "run" });
    expect(hidden.entries[1]?.details).toBeUndefined();
    expect((await verify(place)).json()).toMatchObject({ intact: true, files: 1, entries: 2 });
  });

  it("tells who went on, and who answered what", async () => {
    const place = openPlace();
    await runTask(place, UNSURE);
    expect((await place.run(["answer", "t", "proceed", "--by", "ada"])).code).toBe(0);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    const { entries } = (await place.run(["--json", "audit", "show", "t"])).json<Shown>();
    expect(entries.filter(({ event }) => event === "answered")).toMatchObject([
      { details: { answer: "proceed", by: "ada" } },
    ]);
    expect(entries.map(({ event }) => event)).toEqual([
      "unlocked",
      "started",
      "unlocked",
      "answered",
      "unlocked",
      "resumed",
    ]);
  });

  it("finds an entry that was changed, removed, put elsewhere, or cut off at the end", async () => {
    const place = openPlace();
    const folder = await runTask(place, UNSURE);
    await place.run(["answer", "t", "proceed"]);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(readdirSync(folder).length).toBe(3);
    const bytes = readFileSync(fileOf(folder, 2));
    const broken = async (): Promise<string> => {
      const { code, json } = await verify(place);
      expect(code).toBe(15);
      return json<{ checks: { text: string }[] }>()
        .checks.map(({ text }) => text)
        .join("; ");
    };

    writeFileSync(fileOf(folder, 2), bytes.toString().replace('"by":"tester"', '"by":"nobody"'));
    expect(await broken()).toContain("checksum does not fit");
    rmSync(fileOf(folder, 2));
    expect(await broken()).toContain("audit/00000002.jsonl is missing");
    writeFileSync(fileOf(folder, 2), bytes);
    expect((await verify(place)).code).toBe(0);

    renameSync(fileOf(folder, 2), fileOf(folder, 9));
    renameSync(fileOf(folder, 3), fileOf(folder, 2));
    renameSync(fileOf(folder, 9), fileOf(folder, 3));
    expect(await broken()).toContain("was written as");
    renameSync(fileOf(folder, 2), fileOf(folder, 9));
    renameSync(fileOf(folder, 3), fileOf(folder, 2));
    renameSync(fileOf(folder, 9), fileOf(folder, 3));
    expect((await verify(place)).code).toBe(0);

    rmSync(fileOf(folder, 3));
    expect(await broken()).toContain("was seen on this machine and is missing");
  });

  it("is whole after many processes read at once, and nothing of the task has changed", async () => {
    const place = openPlace();
    const folder = await runTask(place);
    await Promise.all(Array.from({ length: 6 }, () => place.run(["show", "t"])));
    expect((await verify(place)).json()).toMatchObject({ intact: true, files: 1, entries: 2 });
    expect(readdirSync(folder)).toEqual(["00000001.jsonl"]);
    expect(await eventsOf(place)).toContain("read show");
  });

  it("is named where it is no folder any more, before anything acts: how new a keyring is shows there, too", async () => {
    const place = openPlace();
    const folder = await runTask(place, UNSURE);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "in the way");
    const answered = await place.run(["answer", "t", "proceed"]);
    expect(answered.code).toBe(4);
    expect(answered.stderr).toContain("audit is not a folder [STORE_UNSAFE]");
  });
});

/**
 * What must stop everything stops it, each in its own words and with its own status, and changes nothing: a missing key, a
 * wrong key, damage beyond repair, a tampered file, a folder put back to an older state.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandResult } from "../../support/built-program.js";
import { crashSample, errorOf, leaveDeadSocket, letGo, Place, removePlaces, type Image, UNTOUCHED } from "./place.js";

const TASK = "refused";

let place: Place;
let file: string;
let sound: Image;
let soundState: Image;

beforeAll(async () => {
  place = new Place();
  file = await crashSample(place, TASK);
  letGo(place);
  sound = place.take("outputs");
  soundState = place.take("state");
});

afterAll(removePlaces);

/** The verbs a person tries, with what each must say: a status and, where it is an error, a code. */
interface Expected {
  readonly status: number;
  readonly code: string;
  /** Reading verbs answer where they can. */
  readonly reading: "refused" | "answered";
}

const ACTING = [
  ["resume", TASK],
  ["run", "FILE", "--task", TASK],
  ["run", "FILE"],
];
const READING = [
  ["show", TASK],
  ["checkpoints", "list", TASK],
];

async function requireRefusal(expected: Expected): Promise<{ messages: string[]; hints: string[] }> {
  const before = place.fingerprint(...UNTOUCHED);
  const messages: string[] = [];
  const hints: string[] = [];
  for (const verb of ACTING) {
    const result = await place.run([...verb.map((word) => (word === "FILE" ? file : word)), "--json"]);
    expect([verb.join(" "), result.code, errorOf(result).code]).toEqual([
      verb.join(" "),
      expected.status,
      expected.code,
    ]);
    messages.push(errorOf(result).message);
    hints.push(errorOf(result).hint);
  }
  const recovered = await place.run(["recover", "--json"]);
  expect([recovered.code, recovered.json<{ tasks: unknown[] }>().tasks]).toMatchObject([
    expected.status,
    [{ task: TASK, action: "failed", code: expected.code }],
  ]);
  for (const verb of READING) await requireReading(verb, expected);
  await requireListed(expected);
  expect(place.fingerprint(...UNTOUCHED)).toEqual(before);
  return { messages, hints };
}

async function requireReading(verb: readonly string[], { reading, status, code }: Expected): Promise<void> {
  const result = await place.run([...verb, "--json"]);
  if (reading === "refused") {
    expect([verb.join(" "), result.code, errorOf(result).code]).toEqual([verb.join(" "), status, code]);
    return;
  }
  expect([verb.join(" "), result.code]).toEqual([verb.join(" "), 0]);
}

interface Listed {
  readonly task: string;
  readonly problem?: { readonly code: string; readonly message: string };
}

/** The list never fails because of one task; it names the task's trouble. */
async function requireListed({ code }: Expected): Promise<void> {
  const result = await place.run(["list", "--json"]);
  const tasks = result.json<Listed[]>();
  expect([result.code, tasks.map((task) => [task.task, task.problem?.code])]).toEqual([0, [[TASK, code]]]);
}

async function withFiles<T>(change: () => void, act: () => Promise<T>): Promise<T> {
  change();
  try {
    return await act();
  } finally {
    place.restore(sound, "outputs");
    place.restore(soundState, "state");
  }
}

const journal = () => place.checkpoints(TASK, "journal", "00000001-0000.jsonl");

function rewriteLines(path: string, change: (lines: string[]) => string[]): void {
  writeFileSync(path, `${change(readFileSync(path, "utf8").trimEnd().split("\n")).join("\n")}\n`);
}

/** Flips one bit in the middle of the sealed part of a line. */
function flip(line: string): string {
  const at = line.indexOf('"d":"') + 25;
  return line.slice(0, at) + (line[at] === "A" ? "B" : "A") + line.slice(at + 1);
}

function dropSnapshots(): void {
  for (const name of place.snapshots(TASK)) rmSync(place.checkpoints(TASK, name));
}

describe("refusals", () => {
  it("says which key is missing, where it looked, and the command that shows it", async () => {
    const key = place.path("config", "keys", "default.key");
    renameSync(key, place.path("aside.key"));
    try {
      const before = place.fingerprint(...UNTOUCHED);
      const { messages, hints } = await requireRefusal({ status: 12, code: "KEY_MISSING", reading: "refused" });
      for (const message of messages) expect(message).toMatch(/needs keyfile [0-9a-f]{16} .*does not exist/);
      for (const hint of hints) await requireWorkingHint(hint);
      expect(place.fingerprint(...UNTOUCHED)).toEqual(before);
    } finally {
      renameSync(place.path("aside.key"), key);
    }
  });

  it("names both fingerprints of a wrong key", async () => {
    const key = place.path("config", "keys", "default.key");
    renameSync(key, place.path("aside.key"));
    expect((await place.run(["keys", "init"])).code).toBe(0);
    try {
      const { messages, hints } = await requireRefusal({ status: 12, code: "KEY_WRONG", reading: "refused" });
      for (const message of messages) expect(message).toMatch(/needs keyfile [0-9a-f]{16} .*given was [0-9a-f]{16} /);
      for (const hint of hints) await requireWorkingHint(hint);
    } finally {
      renameSync(place.path("aside.key"), key);
    }
  });

  it("names the records that damage beyond repair has cost", async () => {
    await withFiles(
      () => {
        dropSnapshots();
        rewriteLines(journal(), (lines) => lines.map((line, index) => (index === 8 ? flip(line) : line)));
      },
      async () => {
        const { messages } = await requireRefusal({ status: 13, code: "JOURNAL_CORRUPT", reading: "answered" });
        for (const message of messages) expect(message).toMatch(/has lost records 8: 00000001-0000 line 9/);
        const shown = (await place.run(["show", TASK, "--json"])).json<{ damage: string[] }>();
        expect(shown.damage.join("\n")).toContain("lost records 8");
      },
    );
  });

  it("tells a forged record, whose checksums all fit, from damage", async () => {
    await withFiles(
      () => {
        dropSnapshots();
        writeFileSync(journal(), forge(readFileSync(journal())));
      },
      async () => {
        const { messages } = await requireRefusal({ status: 15, code: "JOURNAL_TAMPERED", reading: "refused" });
        expect(messages[0]).toContain("00000001-0000");
      },
    );
  });

  it("tells a folder that was put back to an older state from a current one", async () => {
    const second = new Place();
    const workflow = await crashSample(second, TASK);
    const old = second.take("outputs");
    letGo(second);
    expect((await second.run(["resume", TASK, "--json"])).code).toBe(0);
    second.restore(old, "outputs");
    await leaveDeadSocket(second, TASK);
    const kept = [place, file] as const;
    [place, file] = [second, workflow];
    try {
      const { messages, hints } = await requireRefusal({ status: 15, code: "TASK_ROLLED_BACK", reading: "answered" });
      for (const message of messages)
        expect(message).toMatch(
          /ends at record \d+ of epoch 1, but this machine has acknowledged record \d+ of epoch 2/,
        );
      expect(hints[0]).toBe(`splashdown resume ${TASK} --accept-loss`);
      const shown = (await place.run(["show", TASK, "--json"])).json<{ damage: string[] }>();
      expect(shown.damage.join("\n")).toContain("this machine has acknowledged record");
      const accepted = await place.run(["resume", TASK, "--accept-loss", "--json"]);
      expect([accepted.code, accepted.stderr]).toEqual([0, ""]);
    } finally {
      [place, file] = kept;
    }
  });

  it("are remembered outside the folder, and enter its audit trail with the next who acts", async () => {
    const failed = async (): Promise<{ n: number; details: { code: string } }[]> => {
      const shown = await place.run(["audit", "show", TASK, "--json"]);
      const { entries } = shown.json<{ entries: { event: string; n: number; details: { code: string } }[] }>();
      return entries.filter(({ event }) => event === "unlock_failed");
    };
    expect((await place.run(["show", TASK, "--json"], { SPLASHDOWN_PASSPHRASE: "another passphrase" })).code).toBe(12);
    expect((await failed()).at(-1)).toMatchObject({ n: 0, details: { code: "KEY_MISSING" } });
    expect((await place.run(["resume", TASK, "--json"])).code).toBe(0);
    const entered = await failed();
    expect(entered.map(({ n }) => n > 0)).toEqual(entered.map(() => true));
    expect(entered.at(-1)).toMatchObject({ details: { code: "KEY_MISSING" } });
    expect((await place.run(["audit", "verify", TASK, "--json"])).code).toBe(0);
  });

  it("go on as if nothing had been when the trouble is gone", async () => {
    const result = await place.run(["resume", TASK, "--json"]);
    const view = result.json<{ status: string; how: string }>();
    expect([result.code, view.status, view.how]).toEqual([0, "done", "finished_before"]);
  });
});

/** A hint is a command; typed as printed it ends well. */
async function requireWorkingHint(hint: string): Promise<void> {
  const [program, ...words] = hint.split(" ");
  expect(program).toBe("splashdown");
  const result: CommandResult = await place.run(words);
  expect([hint, result.code, result.stderr]).toEqual([hint, 0, ""]);
}

/** Changes one sealed record and repairs every hash after it, as someone would who has the file and no key. */
function forge(bytes: Buffer): string {
  const lines = bytes.toString("latin1").trimEnd().split("\n");
  let hash = Buffer.from(lines[7]?.slice(-45, -2) ?? "", "base64url");
  const forged = lines.slice(8).map((line, index) => {
    const body = (index === 0 ? flip(line) : line).slice(0, -51);
    hash = createHash("sha256").update(hash).update(body).digest();
    return `${body},"h":"${hash.toString("base64url")}"}`;
  });
  return `${[...lines.slice(0, 8), ...forged].join("\n")}\n`;
}

/** Files of a size that nobody writes here: nothing of them is read, and other tasks go on meanwhile. */
import { execFileSync } from "node:child_process";
import { readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import { countBatch } from "../../../src/journal/record-queue.js";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { codeOfAsync } from "../../support/error-code.js";

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
const SPARSE_BYTES = 20 * 1024 ** 3;
/** What the verbs together may take more than before; reading one of the files would take all there is. */
const MORE_BYTES_MAX = 400 * 1024 * 1024;

interface Ground {
  readonly place: CommandPlace;
  readonly splashdown: Splashdown;
  readonly other: string;
  readonly bad: string;
}

async function openGround(): Promise<Ground> {
  const place = openPlace();
  const [other, gated] = [place.write("other.yaml", OTHER), place.write("gated.yaml", GATED)];
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const splashdown = await openSplashdown({ store: "file:outputs", environment });
  onTestFinished(() => splashdown.close());
  for (const task of ["bad", "good"]) {
    await splashdown.run({ workflow: gated, task });
    await splashdown.answer({ task, answer: "approve" });
  }
  return { place, splashdown, other, bad: join(place.folder, "outputs/bad/checkpoints") };
}

/** The others are listed, run and recovered; what is wrong is said of the bad one alone. */
async function expectOthersUnaffected({ splashdown, other }: Ground): Promise<void> {
  const before = process.memoryUsage.rss();
  const listed = await splashdown.list();
  expect(listed.find(({ task }) => task === "good")?.problem).toBe(undefined);
  expect(await splashdown.run({ workflow: other, task: "third" })).toMatchObject({ output: { a: 7 } });
  await splashdown.checkpoints.list();
  await splashdown.metrics();
  await splashdown.doctor({ tasks: true });
  await splashdown.audit.verify();
  await splashdown.audit.show();
  const recovered = await splashdown.recover();
  expect(recovered.tasks.find(({ task }) => task === "good")).toMatchObject({ result: { status: "done" } });
  expect(process.memoryUsage.rss() - before).toBeLessThan(MORE_BYTES_MAX);
}

const named = (folder: string, part: string): string =>
  join(folder, readdirSync(folder).find((name) => name.startsWith(part)) ?? part);

describe("a task with a file of twenty gigabytes that holds nothing", () => {
  it("[security M3] as a segment is one named entry, and the others go on", async () => {
    const ground = await openGround();
    truncateSync(named(join(ground.bad, "journal"), "00000001-"), SPARSE_BYTES);
    const bad = (await ground.splashdown.list()).find(({ task }) => task === "bad");
    expect(bad?.problem).toMatchObject({ code: "STORE_FAILED", message: expect.stringContaining("segment 1-0 has") });
    await expectOthersUnaffected(ground);
    expect(await codeOfAsync(() => ground.splashdown.show("bad"))).toBe("STORE_FAILED");
  });

  it("[security M3 kin] as a keyring is not read", async () => {
    const ground = await openGround();
    truncateSync(named(ground.bad, "keyring-"), SPARSE_BYTES);
    await expectOthersUnaffected(ground);
  });

  it("[security M3 kin] as a newer keyring beside the good one is not read", async () => {
    const ground = await openGround();
    writeFileSync(join(ground.bad, "keyring-2.json"), "", { mode: 0o600 });
    truncateSync(join(ground.bad, "keyring-2.json"), SPARSE_BYTES);
    await expectOthersUnaffected(ground);
  });

  it("[security M3 kin] as an audit file, an answer and a snapshot is not read", async () => {
    const ground = await openGround();
    const files = execFileSync("find", [ground.bad, "-type", "f", "-not", "-path", "*/journal/*"])
      .toString()
      .split("\n")
      .filter((path) => /audit|control|checkpoint_/.test(path.slice(ground.bad.length)));
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) truncateSync(file, SPARSE_BYTES);
    await expectOthersUnaffected(ground);
  });

  it("[security M3 kin] as a segment beside the last is not read", async () => {
    const ground = await openGround();
    writeFileSync(join(ground.bad, "journal/00000009-0000.jsonl"), "", { mode: 0o600 });
    truncateSync(join(ground.bad, "journal/00000009-0000.jsonl"), SPARSE_BYTES);
    await expectOthersUnaffected(ground);
  });

  it("[security M3 kin] as a settings file or a workflow file is refused by its size", async () => {
    const { place, splashdown } = await openGround();
    for (const name of ["big.yaml", "splashdown.config.yaml"]) truncateSync(place.write(name, ""), SPARSE_BYTES);
    const workflow = join(place.folder, "big.yaml");
    expect(await codeOfAsync(() => splashdown.run({ workflow }))).toMatch(/WORKFLOW_|VALUE_TOO_LARGE/);
    const environment = createEnvironment({ ...place.env }, place.folder);
    expect(await codeOfAsync(() => openSplashdown({ environment }))).toBe("SETTING_INVALID");
  });

  it("[security M3 kin] given to validate-checkpoint is refused by its size", async () => {
    const { place, splashdown } = await openGround();
    const file = place.write("big.json", "");
    truncateSync(file, SPARSE_BYTES);
    expect(await codeOfAsync(() => splashdown.debug.validateCheckpoint(file))).toBe("VALUE_TOO_LARGE");
  });
});

describe("what a writer makes", () => {
  it("is never larger than what is read: batches end in time", () => {
    const bodies = [LIMITS.batchBytesMax, 1, LIMITS.batchBytesMax].map((length) => ({ length }) as Buffer);
    const records = bodies.map((body, at) => ({ n: at + 1, kind: "note", body }));
    expect(countBatch(records)).toBe(1);
    expect(countBatch(records.slice(1))).toBe(1);
    expect(countBatch(records.slice(2))).toBe(1);
    expect(countBatch([])).toBe(0);
    const largestBatch = Math.max(2 * LIMITS.batchBytesMax, LIMITS.recordBytesMax);
    expect(LIMITS.segmentReadBytesMax).toBeGreaterThan(LIMITS.segmentBytesMax + largestBatch);
  });
});

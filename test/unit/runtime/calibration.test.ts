/** Claims of confidence over tasks: what is kept of a task, what counts for the next, and that nothing of it stops a task. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import { defaultSettings, type EffectiveSettings } from "../../../src/definition/settings/settings.js";
import type { WorkflowDefinition } from "../../../src/definition/model/workflow.js";
import type { TaskState } from "../../../src/engine/model/state.js";
import { openSplashdown, type Splashdown } from "../../../src/index.js";
import { keepClaims, loadTrackRecords, type CalibrationDeps } from "../../../src/runtime/session/calibration.js";
import type { ConfidenceView } from "../../../src/runtime/views/face-views.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { expectView } from "../../support/view-schemas.js";
import { loadText } from "../../support/workflow-files.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

const fileOf = (model: string): string => `workflow: {name: Heat pumps, runtime: {provider: local}}
phases:
  - name: look
    specialists: [{name: a, prompt: look, model: ${model}}, {name: b, prompt: look, model: ${model}}]
    evaluate: {scorers: [{dimension: quality, expression: "60"}], approve: 50}
    confidence: {minimum: 0.2}
`;

interface Room {
  readonly deps: CalibrationDeps;
  readonly fileSystem: MemoryFileSystem;
  readonly warnings: string[];
  readonly definition: WorkflowDefinition;
  /** A task that has ended: `a` claims 0.95 and `b` 0.6, both are measured at 0.6. */
  readonly endTask: (number: number, startedAtMs?: number) => TaskState;
  readonly files: () => readonly string[];
}

async function openRoom(model = "m"): Promise<Room> {
  const { definition } = await loadText(fileOf(model));
  const fileSystem = new MemoryFileSystem("/");
  const warnings: string[] = [];
  const deps = {
    fileSystem,
    random: createSeededRandom(1),
    environment: { stateFolder: "/state" },
    log: { warn: (text: string) => warnings.push(text) },
    store: { manifest: { durable: true } },
  } as unknown as CalibrationDeps;
  const endTask = (number: number, startedAtMs = 1_700_000_000_000 + number): TaskState => {
    const harness = new EngineHarness(definition, {
      perform: (step) =>
        step.kind === "scorer" ? done({ score: 60 }) : done("x", { confidence: step.name === "a" ? 0.95 : 0.6 }),
    });
    expect(harness.run()).toMatchObject({ end: "done" });
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
    return { ...harness.state, task: { ...harness.state.task!, id: id as never, startedAtMs } };
  };
  const files = (): readonly string[] =>
    [...fileSystem.nodes.keys()].filter((path) => path.endsWith(".json")).toSorted();
  return { deps, fileSystem, warnings, definition, endTask, files };
}

const TASK_FILE = `workflow:
  name: heat
  runtime:
    provider: scripted
    scripted_answers:
      boaster: [{say: "It is so.", confidence: 0.9}]
      honest: [{say: "It may be so.", confidence: 0.62}]
phases:
  - name: look
    specialists: [{name: boaster, prompt: Look.}, {name: honest, prompt: Look.}]
    evaluate: {scorers: [{dimension: quality, expression: "60"}], approve: 50}
    confidence: {minimum: 0.5}
`;

/** Opens Splashdown on one folder, with variables of the environment. */
async function openAt(folder: string, more: Readonly<Record<string, string>> = {}): Promise<Splashdown> {
  const splashdown = await openSplashdown({ environment: createOwnEnvironment(folder, more) });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

const settings: EffectiveSettings = defaultSettings();
const A = { tasks: 3, claimed: 0.95, measured: 0.6 };
const BOTH = { "main/look/a": A, "main/look/b": { tasks: 3, claimed: 0.6, measured: 0.6 } };

describe("claims that were measured", () => {
  it("count from the third task on, by specialist", async () => {
    const { deps, definition, endTask } = await openRoom();
    for (const number of [1, 2]) await keepClaims(deps, endTask(number), settings);
    expect(await loadTrackRecords(deps, definition, settings)).toBeUndefined();
    await keepClaims(deps, endTask(3), settings);
    expect(await loadTrackRecords(deps, definition, settings)).toEqual(BOTH);
  });

  it("count once for a task, however often it ends", async () => {
    const { deps, definition, endTask, files } = await openRoom();
    for (const number of [1, 2, 2, 2, 2]) await keepClaims(deps, endTask(number), settings);
    expect(files()).toHaveLength(2);
    expect(await loadTrackRecords(deps, definition, settings)).toBeUndefined();
  });

  it("are kept in private files, with names and figures and nothing else", async () => {
    const { deps, endTask, files, fileSystem } = await openRoom();
    await keepClaims(deps, endTask(7), settings);
    const [file = ""] = files();
    expect(file).toMatch(
      /^\/state\/calibration\/Heat-pumps-[0-9a-f]{12}\/1700000000007_0{8}-0000-4000-8000-0{11}7\.json$/,
    );
    expect(fileSystem.nodes.get(file)?.mode).toBe(0o600);
    expect(JSON.parse(fileSystem.nodes.get(file)!.bytes.toString().split("\n")[0]!)).toEqual({
      format: "splashdown.calibration",
      version: "1.0",
      workflow: "Heat pumps",
      task: "00000000-0000-4000-8000-000000000007",
      claims: [
        { path: "main/look/a", by: "model local m", claimed: 0.95, measured: 0.6 },
        { path: "main/look/b", by: "model local m", claimed: 0.6, measured: 0.6 },
      ],
    });
  });

  it("are those of another specialist when another model does its work", async () => {
    const { deps, definition, endTask } = await openRoom();
    for (const number of [1, 2, 3]) await keepClaims(deps, endTask(number), settings);
    const mapped = { ...settings, provider_map: { local: "elsewhere" } };
    expect(await loadTrackRecords(deps, definition, mapped)).toBeUndefined();
    const { definition: other } = await loadText(fileOf("n"));
    expect(await loadTrackRecords(deps, other, settings)).toBeUndefined();
    expect(await loadTrackRecords(deps, definition, settings)).toEqual(BOTH);
  });

  it("are kept of the newest tasks only", async () => {
    const { deps, endTask, files } = await openRoom();
    const count = LIMITS.calibrationTasksMax + 2;
    for (let number = count; number > 0; number -= 1) await keepClaims(deps, endTask(number), settings);
    expect(files()).toHaveLength(LIMITS.calibrationTasksMax);
    expect(files()[0]).toContain(`1700000000003_`);
  });

  it.each<[string, (state: TaskState) => TaskState]>([
    ["has not ended", (state) => ({ ...state, task: { ...state.task!, status: "waiting" } })],
    ["is a fork", (state) => ({ ...state, task: { ...state.task!, forkedFrom: {} as never } })],
    ["was not scored", (state) => ({ ...state, evaluations: [] })],
  ])("are not kept of a task that %s", async (_what, change) => {
    const { deps, endTask, files } = await openRoom();
    await keepClaims(deps, change(endTask(1)), settings);
    expect(files()).toEqual([]);
  });

  it("are neither kept nor counted when a person switched it off", async () => {
    const { deps, definition, endTask, files } = await openRoom();
    const off = { ...settings, calibration: false };
    await keepClaims(deps, endTask(1), off);
    expect(files()).toEqual([]);
    for (const number of [1, 2, 3]) await keepClaims(deps, endTask(number), settings);
    expect(await loadTrackRecords(deps, definition, off)).toBeUndefined();
  });

  it("are neither kept nor counted for tasks in memory, which leave nothing behind", async () => {
    const { deps, definition, endTask, files } = await openRoom();
    for (const number of [1, 2, 3]) await keepClaims(deps, endTask(number), settings);
    const inMemory = { ...deps, store: { manifest: { durable: false } } } as unknown as CalibrationDeps;
    await keepClaims(inMemory, endTask(4), settings);
    expect(files()).toHaveLength(3);
    expect(await loadTrackRecords(inMemory, definition, settings)).toBeUndefined();
  });
});

describe("a file of measured claims that cannot be used", () => {
  it.each<[string, (text: string) => string, string]>([
    ["is cut short", (text) => text.slice(0, 60), "it does not match its own checksum"],
    ["was changed", (text) => text.replace("0.95", "0.15"), "it does not match its own checksum"],
    ["is empty", () => "", "it does not match its own checksum"],
    ["is too large", (text) => text.repeat(10_000), "it is too large"],
  ])("because it %s is named, and the other tasks count", async (_what, change, words) => {
    const { deps, definition, endTask, files, fileSystem, warnings } = await openRoom();
    for (const number of [1, 2, 3, 4]) await keepClaims(deps, endTask(number), settings);
    const [file = ""] = files();
    fileSystem.addFile(file, change(fileSystem.nodes.get(file)!.bytes.toString()));
    expect(await loadTrackRecords(deps, definition, settings)).toEqual(BOTH);
    expect(warnings).toEqual([`what an earlier task measured is not counted: ${file} cannot be used (${words})`]);
  });

  it("because the folder cannot be written is told, and nothing fails", async () => {
    const { deps, endTask, files, fileSystem, warnings } = await openRoom();
    fileSystem.fault = (operation) => (operation.startsWith("mkdir") ? "EROFS" : undefined);
    await keepClaims(deps, endTask(1), settings);
    expect(files()).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^what was measured of this task is not kept for later ones: \/state\/calibration\/.*\(EROFS\)$/,
    );
  });
});

describe("a fourth task", () => {
  it("believes its specialists by what the first three measured, and its reports say so", async () => {
    const folder = mkdtempSync(join(tmpdir(), "splashdown-calibration-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "heat.yaml"), TASK_FILE);
    const splashdown = await openAt(folder);
    const run = async (opened: Splashdown, task: string) => {
      expect(await opened.run({ workflow: join(folder, "heat.yaml"), task })).toMatchObject({ status: "done" });
      return opened.confidence(task);
    };
    const countedOf = ({ phases }: ConfidenceView) => phases[0]?.specialists.map(({ counted }) => counted);
    for (const task of ["t1", "t2", "t3"]) expect(countedOf(await run(splashdown, task))).toEqual([0.72, 0.62]);
    const fourth = await run(splashdown, "t4");
    expectView("confidence", fourth);
    expect(countedOf(fourth)).toEqual([0.6, 0.62]);
    expect(fourth.text).toContain(" 60 %  claimed 90 %, 30 % off what was measured, its last 3 tasks claimed 90 %");
    expect(fourth.text).toContain(" 62 %  its last 3 tasks claimed 62 %, measured 60 %");
    const diff = await splashdown.debug.diffCheckpoints("t3:latest", "t4:latest");
    expect(JSON.stringify(diff)).toContain('"trackRecords');
    const off = await openAt(folder, { SPLASHDOWN_CALIBRATION: "off" });
    expect(countedOf(await run(off, "t5"))).toEqual([0.72, 0.62]);
    const [kept = ""] = readdirSync(join(folder, "state", "calibration"));
    expect(readdirSync(join(folder, "state", "calibration", kept))).toHaveLength(4);
  });
});

/** A workflow file's own blocks say where its tasks are kept and how; later commands find them without the file. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdown, type OpenOptions, type Splashdown } from "../../../src/index.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

const STEPS = "steps:\n  - {name: a, type: set, value: 1}\n";
const GATE = "steps:\n  - {name: ok, type: human_gate, prompt: 'Continue?', options: [yes!, no!]}\n";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-stores-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(folder: string, options: OpenOptions = {}): Promise<Splashdown> {
  const splashdown = await openSplashdown({ environment: createOwnEnvironment(folder), ...options });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

function write(folder: string, header: string, rest = STEPS): string {
  const file = join(folder, "flow.yaml");
  writeFileSync(file, `${header}\n${rest}`);
  return file;
}

describe("a workflow's own store", () => {
  it.each([
    ["[source 000] checkpoint.path", "workflow: {name: flow, checkpoint: {path: .conductor/flow}}", ".conductor/flow"],
    [
      "[source 000 kin] checkpoint.storage and path with the name in it",
      "workflow: {name: flow, checkpoint: {enabled: true, storage: file, path: '.conductor/${workflow.name}/'}}",
      ".conductor/flow",
    ],
    [
      "[source 000 kin] checkpoint_config.storage_path",
      "workflow: {name: flow}\ncheckpoint_config: {storage_path: 'kept/{TASK}/checkpoints'}",
      "kept",
    ],
    ["[source 000 kin] store", "workflow: {name: flow}\nstore: 'file:elsewhere'", "elsewhere"],
  ])("%s takes effect, and list and show find the task without the file", async (_what, header, place) => {
    const folder = makeFolder();
    const first = await open(folder);
    const { task, notices } = await first.run({ workflow: write(folder, header) });
    expect(notices.join()).not.toContain("store");
    expect(readdirSync(join(folder, place))).toContain(task);
    expect(existsSync(join(folder, "outputs", task))).toBe(false);
    await first.close();
    const second = await open(folder);
    expect((await second.list()).map((each) => each.task)).toEqual([task]);
    expect(await second.show(task)).toMatchObject({ task, status: "done" });
    expect(await second.show("flow")).toMatchObject({ task });
  });

  it("resumes, answers, forks and prunes there", async () => {
    const folder = makeFolder();
    const file = write(folder, "workflow: {name: flow, checkpoint: {path: kept}}", GATE);
    const { task } = await (await open(folder)).run({ workflow: file });
    const later = await open(folder);
    expect((await later.questions()).questions).toMatchObject([{ task, question: { text: "Continue?" } }]);
    expect(await later.graph({ task })).toMatchObject({ task, workflow: "flow" });
    expect(await later.show(task, { at: 1 })).toMatchObject({ task, as_of: { event: 1 }, steps: [] });
    await later.answer({ task, answer: "yes!" });
    expect(await later.resume({ task })).toMatchObject({ task, status: "done" });
    const [first] = await later.checkpoints.list(task);
    const fork = await later.fork(task, { from: `${first?.seq ?? 0}` });
    expect(readdirSync(join(folder, "kept")).sort()).toEqual([task, fork.task].sort());
    expect((await later.checkpoints.prune({ dryRun: true })).tasks.map((each) => each.task)).toContain(task);
    expect(await codeOfAsync(() => later.show("nobody"))).toBe("TASK_NOT_FOUND");
  });

  it("goes on with the unfinished task of the same file, which is there", async () => {
    const folder = makeFolder();
    const file = write(folder, "workflow: {name: flow, checkpoint: {path: kept}}", GATE);
    const { task } = await (await open(folder)).run({ workflow: file });
    const again = await (await open(folder)).run({ workflow: file });
    expect(again).toMatchObject({ task, how: "finished_before", status: "waiting" });
    expect((await (await open(folder)).recover()).tasks).toMatchObject([{ task, action: "left" }]);
  });

  it("counts less than a flag and than the environment", async () => {
    const folder = makeFolder();
    const file = write(folder, "workflow: {name: flow, checkpoint: {path: kept}}");
    const flagged = await open(folder, { store: "file:flagged" });
    const { task } = await flagged.run({ workflow: file });
    expect(readdirSync(join(folder, "flagged"))).toContain(task);
    const environment = createOwnEnvironment(folder, { SPLASHDOWN_STORE: "file:named" });
    const named = await open(folder, { environment });
    const other = await named.run({ workflow: file });
    expect(readdirSync(join(folder, "named"))).toContain(other.task);
    expect(existsSync(join(folder, "kept"))).toBe(false);
  });

  it("in memory lives as long as the process", async () => {
    const folder = makeFolder();
    const file = write(folder, "workflow: {name: flow, checkpoint: {storage: memory}}");
    const splashdown = await open(folder);
    const { task } = await splashdown.run({ workflow: file });
    expect(await splashdown.show(task)).toMatchObject({ status: "done" });
    expect(await (await open(folder)).list()).toEqual([]);
  });

  it("is refused to an agent outside its root", async () => {
    const folder = makeFolder();
    const root = join(folder, "root");
    mkdirSync(root);
    const file = write(root, `workflow: {name: flow}\nstore: 'file:${folder}/out'`);
    const splashdown = await open(folder, { confine: { root, mayLoadModules: false } });
    expect(await codeOfAsync(() => splashdown.run({ workflow: file }))).toBe("WORKFLOW_OUTSIDE");
  });

  it("may be gone: the tasks of the others are listed all the same", async () => {
    const folder = makeFolder();
    await (await open(folder)).run({ workflow: write(folder, "workflow: {name: flow, checkpoint: {path: kept}}") });
    const { task } = await (await open(folder)).run({ workflow: write(folder, "workflow: {name: other}") });
    rmSync(join(folder, "kept"), { recursive: true });
    expect((await (await open(folder)).list()).map((each) => each.task)).toEqual([task]);
  });
});

describe("[source 10] a workflow's own encryption", () => {
  const PLAIN = "workflow: {name: flow}\ncheckpoint_config: {encryption: false, compression: false}";

  it("[source 10] false writes in the clear and says so once; a later process reads it", async () => {
    const folder = makeFolder();
    const first = await open(folder);
    const view = await first.validate(write(folder, PLAIN));
    expect(view.notes?.filter((note) => note.includes("encryption"))).toEqual([
      "checkpoint_config.encryption: everything is written unencrypted, and every file is marked so",
    ]);
    const { task } = await first.run({ workflow: write(folder, PLAIN) });
    const checkpoints = join(folder, "outputs", task, "checkpoints");
    expect(readdirSync(checkpoints).filter((name) => name.startsWith("keyring"))).toEqual([]);
    const later = await open(folder);
    expect(await later.show(task)).toMatchObject({ status: "done" });
    expect(await later.list()).toMatchObject([{ task, status: "done" }]);
  });

  it("[source 10 kin] false in one file leaves the tasks of others sealed", async () => {
    const folder = makeFolder();
    const splashdown = await open(folder);
    await splashdown.run({ workflow: write(folder, PLAIN) });
    const { task } = await splashdown.run({ workflow: write(folder, "workflow: {name: sealed}") });
    const files = readdirSync(join(folder, "outputs", task, "checkpoints"));
    expect(files.some((name) => name.startsWith("keyring"))).toBe(true);
  });

  it("[source 10 kin] of a task that came from elsewhere is not believed", async () => {
    const folder = makeFolder();
    const { task } = await (await open(folder)).run({ workflow: write(folder, PLAIN) });
    const stranger = createOwnEnvironment(folder, { SPLASHDOWN_STATE_DIR: join(folder, "other-state") });
    const splashdown = await open(folder, { environment: stranger });
    expect(await codeOfAsync(() => splashdown.show(task))).toBe("SEAL_MISSING");
  });

  it.each([
    ["[source 10 kin] deliverables", "deliverables: sealed", "splashdown.config.yaml"],
    ["[source 10 kin] keys", "keys: [{type: keyfile, path: k}]", "splashdown.config.yaml"],
    ["[source 10 kin] trash_days", "checkpoint_config: {trash_days: 3}", "splashdown.config.yaml"],
    ["[source 10 kin] new_here", "recovery_config: {new_here: resume}", "splashdown.config.yaml"],
  ])("%s cannot be said by a workflow, and the refusal says where", async (what, line, where) => {
    const folder = makeFolder();
    const view = await (await open(folder)).validate(write(folder, `workflow: {name: flow}\n${line}`));
    expect(view.valid).toBe(false);
    if (!what.includes("deliverables")) expect(view.text).toContain(where);
  });

  it("[source 10 kin] a limit above the place's, which no reader would accept, is refused", async () => {
    const folder = makeFolder();
    const file = write(folder, "workflow: {name: flow}\ncheckpoint_config: {checkpoint_size_limit_mb: 500}");
    expect(await codeOfAsync(async () => (await open(folder)).run({ workflow: file }))).toBe("SETTING_INVALID");
  });

  it("[source 10 kin] without encryption and compression the payload is plain JSON", async () => {
    const folder = makeFolder();
    const { task } = await (await open(folder)).run({ workflow: write(folder, PLAIN) });
    const checkpoints = join(folder, "outputs", task, "checkpoints");
    const file = readdirSync(checkpoints).find((name) => name.startsWith("checkpoint_phase")) ?? "";
    const parsed = JSON.parse(readFileSync(join(checkpoints, file), "utf8")) as { payload: unknown };
    expect(parsed.payload).toMatchObject({ task, workflow: "flow", status: "completed" });
  });
});

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdown, type RunView, type Splashdown } from "../../../src/index.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const say = (name: string, output: string, rest: string) =>
  `{name: ${name}, command: [sh, -c, 'echo ${name} >> ledger; ${output}'], ${rest}}`;
const json = (value: string) => `echo "{\\"output\\":{\\"v\\":${value}}}"`;
/** 600 KB of text: a blob. */
const LARGE = `printf "{\\"output\\":{\\"v\\":\\"%0600000d\\"}}" 7`;

const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - ${say("a", json("1"), "effects: none, save_as: a.json")}
      - ${say("b", LARGE, "effects: none, depends_on: [a]")}
  - name: two
    specialists:
      - ${say("c", json("3"), "effects: external")}
      - {name: d, command: [node, -e, 'let t="";process.stdin.on("data",x=>t+=x).on("end",()=>{const i=JSON.parse(t);console.log(JSON.stringify({output:{a:i.outputs?.a?.v??null,b:String(i.outputs?.b?.v??"").length}}))})'], effects: none, depends_on: [c]}
`;

async function openIn(place: CommandPlace, more: Readonly<Record<string, string>> = {}): Promise<Splashdown> {
  const all = { PATH: process.env["PATH"] ?? "", ...place.env, ...more };
  const splashdown = await openSplashdown({ store: "file:outputs", environment: createEnvironment(all, place.folder) });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

function contents(place: CommandPlace, task: string): Map<string, string> {
  const root = join(place.folder, "outputs", task);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !path.includes("/audit/"));
  return new Map(paths.map((path) => [path.slice(root.length), readFileSync(path, "base64")]));
}

describe("fork", () => {
  it("begins at every checkpoint of a task, runs to the same end, and leaves the task as it was", async () => {
    const place = openPlace();
    const splashdown = await openIn(place);
    const first = await splashdown.run({ workflow: place.write("wf.yaml", WORKFLOW), task: "t" });
    expect(first.status).toBe("done");
    // Without files too: the journal alone leads there.
    await splashdown.checkpoints.prune({ task: "t", keep: 2 });
    const before = contents(place, "t");
    for (const { seq, phase } of await splashdown.checkpoints.list("t")) {
      const fork = await splashdown.fork("t", { from: String(seq), task: `f${seq}` });
      expect(fork).toMatchObject({ task: `f${seq}`, from: { task: "t", seq, phase } });
      expect(fork.workflow_id).not.toBe(first.workflow_id);
      expect(await splashdown.show(fork.task)).toMatchObject({ status: "paused", forked_from: { task: "t", seq } });
      const ledger = place.ledger().length;
      const view = (await splashdown.resume({ task: fork.task })) as RunView;
      expect([seq, view.status, view.output]).toEqual([seq, "done", first.output]);
      expect(place.ledger().length - ledger).toBeLessThanOrEqual(3);
      expect(
        view.deliverables.map(({ file }) => readFileSync(join(place.folder, "outputs", fork.task, file), "utf8")),
      ).toEqual(first.deliverables.map(({ file }) => readFileSync(join(place.folder, "outputs/t", file), "utf8")));
    }
    expect(contents(place, "t")).toEqual(before);
  });

  it("changes what --set names: an output, within it, an input", async () => {
    const place = openPlace();
    const splashdown = await openIn(place);
    await splashdown.run({ workflow: place.write("wf.yaml", WORKFLOW), task: "t" });
    const start = (await splashdown.checkpoints.list("t")).find(
      ({ trigger, phase }) => trigger === "phase_started" && phase === 2,
    );
    const set = { "outputs.a.v": 41, "outputs.main/one/b": { v: "short" } };
    const fork = await splashdown.fork("t", { from: String(start?.seq), set });
    expect(fork).toMatchObject({ task: "t-fork", set: Object.keys(set), acted_since: ["main/two/c@1.1"] });
    const view = (await splashdown.resume({ task: "t-fork" })) as RunView;
    expect(view.output).toMatchObject({ d: { a: 41, b: 5 } });
    const diff = await splashdown.debug.diffCheckpoints(`t:${start?.seq}`, "t-fork:1");
    expect(diff["text"]).toMatch(/^[^\n]*main\/one\/a/);
    for (const path of ["outputs.zz.v", "nothing.x", "outputs.a.v.deep.er", "inputs"]) {
      await expect(splashdown.fork("t", { from: "1", set: { [path]: 1 } })).rejects.toMatchObject({
        code: "USAGE_INVALID",
      });
    }
    expect((await splashdown.list()).map(({ task }) => task)).toEqual(["t", "t-fork"]);
  });

  it("is a task of its own: recover and run leave it alone, it goes on without the old one", async () => {
    const place = openPlace();
    const splashdown = await openIn(place);
    const workflow = place.write("wf.yaml", WORKFLOW);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.fork("t", { from: "phase1" });
    expect((await splashdown.recover()).tasks.map(({ action }) => action)).toEqual(["left", "left"]);
    const again = await splashdown.run({ workflow });
    expect(again.how).toBe("started");
    await expect(splashdown.fork("t", { from: "phase1", task: "t" })).rejects.toMatchObject({ code: "USAGE_INVALID" });
    expect(((await splashdown.resume({ task: "t-fork" })) as RunView).status).toBe("done");
    const replay = await splashdown.debug.replay("t-fork:latest");
    expect(replay.story[0]?.text).toContain("begins as a fork of t");
    expect(replay.differences).toEqual([]);
    const second = await splashdown.fork("t-fork", { from: "latest" });
    expect(second.task).toBe("t-fork-fork");
  });
});

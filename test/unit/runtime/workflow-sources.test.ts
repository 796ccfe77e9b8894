import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadWorkflow } from "../../../src/definition/loader.js";
import { openSplashdown, type RunView, type Splashdown } from "../../../src/index.js";
import { createNotedDeps, isReadTheSame } from "../../../src/runtime/tasks/workflow-sources.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

const INNER = "workflow: {name: inner}\nsteps:\n  - {name: one, type: set, value: 1}\n";
const OUTER = `workflow: {name: outer, description: "\${TEAM:-none}"}
steps:
  - {name: words, prompt: !file words.txt}
  - {name: nested, type: workflow, workflow: inner.yaml}
`;

function createPlace(): { folder: string; write: (name: string, text: string) => string } {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-sources-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  return { folder, write };
}

describe("what a workflow was read from", () => {
  it("is every file and every variable, and is the same until one of them is another", async () => {
    const { folder, write } = createPlace();
    const file = write("outer.yaml", OUTER);
    write("inner.yaml", INNER);
    write("words.txt", "say it");
    const variables = new Map<string, string>();
    const lookUp = (name: string) => variables.get(name);
    const { deps, noted } = createNotedDeps(lookUp);
    expect(noted()).toBeUndefined();
    await loadWorkflow({ file }, deps);
    const readFrom = noted();
    if (readFrom === undefined) throw new Error("nothing was noted");
    expect(readFrom.files.map((one) => one.file).sort()).toEqual([
      join(folder, "inner.yaml"),
      file,
      join(folder, "words.txt"),
    ]);
    expect(readFrom.variables).toEqual([{ name: "TEAM" }]);
    const isSame = () => isReadTheSame(readFrom, lookUp);
    expect(await isSame()).toBe(true);
    variables.set("TEAM", "ours");
    expect(await isSame()).toBe(false);
    variables.delete("TEAM");
    for (const [name, text] of [
      ["outer.yaml", OUTER],
      ["inner.yaml", INNER],
      ["words.txt", "say it"],
    ] as const) {
      write(name, `${text} `);
      expect([name, await isSame()]).toEqual([name, false]);
      rmSync(join(folder, name));
      expect([name, await isSame()]).toEqual([name, false]);
      write(name, text);
      expect([name, await isSame()]).toEqual([name, true]);
    }
  });

  it("is not told where a module was imported: its file says not all that it does", async () => {
    const { write } = createPlace();
    const file = write(
      "w.mjs",
      "export default { workflow: { name: 'm' }, steps: [{ name: 'a', type: 'set', value: 1 }] };\n",
    );
    const { deps, noted } = createNotedDeps(() => undefined);
    await loadWorkflow({ file }, deps);
    expect(noted()).toBeUndefined();
  });

  it("refuses bytes that are no text, by name", async () => {
    const { folder } = createPlace();
    const file = join(folder, "w.yaml");
    writeFileSync(file, Buffer.from([0x61, 0xff]));
    expect(await codeOfAsync(() => createNotedDeps(() => undefined).deps.readText(file))).toBe("WORKFLOW_INVALID");
  });
});

describe("a resume", () => {
  async function open(folder: string): Promise<Splashdown> {
    const splashdown = await openSplashdown({ store: "memory:", environment: createOwnEnvironment(folder) });
    onTestFinished(() => splashdown.close());
    return splashdown;
  }

  it("takes an edited file for edited, and the file as it was for unchanged, also after the edit was accepted", async () => {
    const { folder, write } = createPlace();
    const text = (word: string) =>
      `workflow: {name: gated}\nsteps:\n  - {name: gate, type: human_gate, prompt: "${word}?", options: [{value: "yes", label: "yes"}]}\n  - {name: after, type: set, value: ${word}, depends_on: [gate]}\n`;
    const file = write("w.yaml", text("old"));
    const splashdown = await open(folder);
    expect((await splashdown.run({ workflow: file, task: "t" })).status).toBe("waiting");
    write("w.yaml", text("new"));
    const refused = (await splashdown.resume({ task: "t" })) as RunView;
    expect([refused.status, refused.reason]).toEqual(["waiting", expect.stringContaining("has changed")]);
    write("w.yaml", text("old"));
    expect(((await splashdown.resume({ task: "t" })) as RunView).reason).not.toContain("has changed");
    write("w.yaml", text("new"));
    expect(((await splashdown.resume({ task: "t", acceptChanges: true })) as RunView).reason).not.toContain(
      "has changed",
    );
    expect(((await splashdown.resume({ task: "t" })) as RunView).reason).not.toContain("has changed");
    write("w.yaml", text("old"));
    expect(((await splashdown.resume({ task: "t" })) as RunView).reason).toContain("has changed");
  });
});

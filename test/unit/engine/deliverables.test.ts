import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import { deliver, nameByItem, formatJson } from "../../../src/engine/pictures/deliverables.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { model, phase, phases, workflow } from "../../support/workflow-builder.js";

describe("deliverables", () => {
  it("take text as it is and other values as JSON with sorted keys, and leave a reference behind", () => {
    const { output, saved } = deliver(
      { md: "# Hi\n", data: { b: 1, a: [2] }, n: 3 },
      { "final/report.md": "md", "data.json": "data" },
      2,
    );
    const json = '{\n  "a": [\n    2\n  ],\n  "b": 1\n}\n';
    expect(saved).toEqual([
      { file: "final/report.md", sha256: sha256Hex("# Hi\n"), sizeBytes: 5, content: { inline: "# Hi\n" } },
      { file: "phases/phase2/data.json", sha256: sha256Hex(json), sizeBytes: json.length, content: { inline: json } },
    ]);
    expect(output).toEqual({
      md: { file: "final/report.md", size: 5, sha256: sha256Hex("# Hi\n") },
      data: { file: "phases/phase2/data.json", size: json.length, sha256: sha256Hex(json) },
      n: 3,
    });
  });

  it("take the whole output for an empty field, and leave out a field that is not there", () => {
    expect(deliver("text", { "final/a.txt": "" }, 1).output).toMatchObject({ file: "final/a.txt", size: 4 });
    expect(deliver({ a: 1 }, { "x.md": "b.c" }, 1)).toEqual({ output: { a: 1 }, saved: [] });
  });

  it("go deeper with dots, without changing the value they were given", () => {
    const given = { a: { b: "x", c: 1 } };
    expect(deliver(given, { "final/b": "a.b" }, 1).output).toMatchObject({ a: { b: { file: "final/b" }, c: 1 } });
    expect(given).toEqual({ a: { b: "x", c: 1 } });
  });

  it("count bytes, not characters", () => {
    expect(deliver("é", { f: "" }, 1).saved[0]?.sizeBytes).toBe(2);
    expect(formatJson(null)).toBe("null\n");
  });

  it("are in the completion before any file exists, and later templates see the reference", () => {
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a", { saveAs: { "final/report.md": "text" } })]),
        phase(2, "q", [model("b", { prompt: "{{ a.output.text.file }}" })]),
      ]),
    );
    const harness = new EngineHarness(flow, {
      perform: (step, work) => done(step.name === "a" ? { text: "hello" } : { saw: work["prompt"] ?? null }),
    });
    harness.run();
    expect(harness.of("step_completed")[0]?.saved?.[0]).toMatchObject({ file: "final/report.md", sizeBytes: 5 });
    expect(harness.state.deliverables.get("final/report.md")?.sizeBytes).toBe(5);
    expect(harness.step("main/q/b").output).toEqual({ inline: { saw: "final/report.md" } });
  });
});

describe("deliverables of items", () => {
  it("have the item's key in their names, so that none overwrites another", () => {
    const saveAs = { "final/report.md": "text", plain: "" };
    expect(nameByItem(saveAs, "main/write")).toBe(saveAs);
    expect(nameByItem(saveAs, "main/each/write[eu]")).toEqual({ "final/report-eu.md": "text", "plain-eu": "" });
    expect(Object.keys(nameByItem(saveAs, "main/each/w[0]/inner/x[7]/step"))).toEqual([
      "final/report-0-7.md",
      "plain-0-7",
    ]);
    const odd = Object.keys(nameByItem({ "a.md": "" }, "main/each/w[a%2fb]"));
    expect(odd).toEqual(["a-c14cddc033f64b9d.md"]);
  });
});

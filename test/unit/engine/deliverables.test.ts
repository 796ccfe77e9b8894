import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import { formatJson, listDeliverables, nameByItem } from "../../../src/engine/render/deliverables.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { model, phase, phases, workflow } from "../../support/workflow-builder.js";

describe("deliverables", () => {
  it("take text as it is and other values as JSON with sorted keys", () => {
    const saved = listDeliverables(
      { md: "# Hi\n", data: { b: 1, a: [2] }, n: 3 },
      { "final/report.md": "md", "data.json": "data" },
      2,
    );
    const json = '{\n  "a": [\n    2\n  ],\n  "b": 1\n}\n';
    expect(saved).toEqual([
      { file: "final/report.md", sha256: sha256Hex("# Hi\n"), sizeBytes: 5, content: { inline: "# Hi\n" } },
      { file: "phases/phase2/data.json", sha256: sha256Hex(json), sizeBytes: json.length, content: { inline: json } },
    ]);
  });

  it("take the whole output for an empty field, go deeper with dots, and leave out a field that is not there", () => {
    expect(listDeliverables("text", { "final/a.txt": "" }, 1)).toMatchObject([{ file: "final/a.txt", sizeBytes: 4 }]);
    expect(listDeliverables({ a: { b: "x" } }, { "final/b": "a.b" }, 1)).toMatchObject([{ content: { inline: "x" } }]);
    expect(listDeliverables({ a: 1 }, { "x.md": "b.c" }, 1)).toEqual([]);
  });

  it("hold dates and numbers beyond JSON's as other programs read them", () => {
    const tagged = { day: { $t: "date", v: "2026-01-02T00:00:00.000Z" }, id: { $t: "bigint", v: "9007199254740993" } };
    const [saved] = listDeliverables(tagged, { "a.json": "" }, 1);
    expect(JSON.parse(String((saved?.content as { readonly inline?: string } | undefined)?.inline))).toEqual({
      day: "2026-01-02T00:00:00.000Z",
      id: "9007199254740993",
    });
  });

  it("count bytes, not characters", () => {
    expect(listDeliverables("é", { f: "" }, 1)[0]?.sizeBytes).toBe(2);
    expect(formatJson(null)).toBe("null\n");
  });

  it("are in the completion before any file exists, and later templates see what was said", () => {
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a", { saveAs: { "final/report.md": "text" } })]),
        phase(2, "q", [model("b", { prompt: "{{ a.output.text }}" })]),
      ]),
    );
    const harness = new EngineHarness(flow, {
      perform: (step, work) => done(step.name === "a" ? { text: "hello" } : { saw: work["prompt"] ?? null }),
    });
    harness.run();
    expect(harness.of("step_completed")[0]?.saved?.[0]).toMatchObject({ file: "final/report.md", sizeBytes: 5 });
    expect(harness.state.deliverables.get("final/report.md")?.sizeBytes).toBe(5);
    expect(harness.step("main/q/b").output).toEqual({ inline: { saw: "hello" } });
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

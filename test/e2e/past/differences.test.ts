/** `debug diff-checkpoints` as a person meets it: where two runs part, large values, and how long it takes. */
import { describe, expect, it } from "vitest";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";

const MEGABYTES = 5;
/** A text of many lines, of which one depends on the input. */
const LONG = `const n = process.argv[1]; const lines = Array.from({ length: ${MEGABYTES} * 16384 }, (_v, at) => "line " + String(at).padStart(58, "0")); lines[40000] = "here " + n; console.log(JSON.stringify({ output: { text: lines.join("\\n") } }))`;

function writeWorkflow(place: CommandPlace): void {
  place.write("long.mjs", LONG.replace("process.argv[1]", "process.argv[2]"));
  place.write(
    "w.yaml",
    `workflow: {name: differ, input: {n: {type: number}}}
steps:
  - {name: same, value: 7}
  - {name: parts, value: "{{ workflow.input.n }}", depends_on: [same]}
  - {name: long, command: [node, long.mjs, "{{ workflow.input.n }}"], effects: none, depends_on: [parts]}
`,
  );
}

interface Difference {
  readonly subject: string;
  readonly name: string;
  readonly number?: number;
  readonly field: string;
  readonly kind: string;
  readonly from?: unknown;
  readonly to?: unknown;
  readonly lines?: readonly { readonly op: string; readonly text?: string; readonly count?: number }[];
}

describe("debug diff-checkpoints of two runs", () => {
  it("names the first step that differs first, long text by line, and takes under two seconds for 5 MB", async () => {
    const place = openPlace();
    writeWorkflow(place);
    for (const n of [1, 2])
      expect((await place.run(["run", "w.yaml", "--task", `t${n}`, "--input", `n=${n}`, "--quiet"])).code).toBe(0);
    const args = ["debug", "diff-checkpoints", "--from=t1:latest", "--to=t2:latest"];
    const { processorMs: bareMs } = await place.runMeasured(["--version"]);
    const { result, processorMs } = await place.runMeasured([...args, "--json"]);
    expect(result.code).toBe(1);
    // Two seconds; on a slow machine as much more as it takes to start.
    expect(processorMs).toBeLessThan(2_000 + 4 * bareMs);
    const { differences } = result.json<{ differences: readonly Difference[] }>();
    expect(differences.slice(0, 2)).toMatchObject([
      { subject: "step", number: 2, name: "main/parts@1.1" },
      { subject: "step", number: 2, name: "main/parts@1.1", field: "output", kind: "changed", from: 1, to: 2 },
    ]);
    const text = differences.find(({ kind }) => kind === "text");
    expect(text).toMatchObject({ subject: "step", number: 3, name: "main/long@1.1", field: "output.text" });
    expect(text?.lines?.filter(({ op }) => op === "removed" || op === "added")).toEqual([
      { op: "removed", text: "here 1" },
      { op: "added", text: "here 2" },
    ]);
    expect(text?.lines?.[0]).toEqual({ op: "skip", count: 39_998 });
    const shown = await place.run(args);
    expect(shown.stdout).toMatch(/^t1:\d+ → t2:\d+: \d+ differences, first at step 2 main\/parts@1\.1: /);
    expect(shown.stdout).toContain("step 3 main/long@1.1: output.text\n  … 39998 equal or left out\n");
    expect(shown.stdout).toContain("\n- here 1\n+ here 2\n");
    expect(shown.stdout).not.toContain("\u001b");
    expect(shown.stdout.length).toBeLessThan(20_000);
  });

  it.skipIf(NO_TERMINAL !== undefined)("is coloured on a terminal, and without colours with NO_COLOR", async () => {
    const place = openPlace();
    place.write(
      "w.yaml",
      'workflow: {name: w, input: {n: {type: number}}}\nsteps:\n  - {name: a, command: [echo, "{{ workflow.input.n }}"], effects: none}\n',
    );
    for (const n of [1, 2])
      expect((await place.run(["run", "w.yaml", "--task", `t${n}`, "--input", `n=${n}`])).stderr).toContain("done");
    const args = ["debug", "diff-checkpoints", "--from=t1:latest", "--to=t2:latest"];
    const coloured = new TerminalRun(place, args);
    expect((await coloured.done).code).toBe(1);
    expect(coloured.raw()).toContain(
      "\u001b[36mtask: inputs.n:\u001b[39m \u001b[31m1\u001b[39m → \u001b[32m2\u001b[39m",
    );
    const plain = new TerminalRun(place, args, { env: { NO_COLOR: "1" } });
    await plain.done;
    expect(plain.raw()).not.toContain("\u001b[");
  });
});

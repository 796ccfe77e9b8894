/** Flags of `checkpoints` that the design's source names, and the figures of `metrics`: what each does. */
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.js";
import { openTypist, type Typist } from "../../support/typed-again.js";

const HOUR_MS = 60 * 60 * 1000;
const workflowOf = (name: string): object => ({
  workflow: { name, entry_point: "a", limits: { max_iterations: 30 } },
  checkpoint_config: { keep_successful: false },
  agents: [
    { name: "a", type: "set", value: "{{ context.iteration }}", risky: true, routes: [{ to: "b" }] },
    {
      name: "b",
      type: "set",
      value: "{{ 1 }}",
      risky: true,
      routes: [{ to: "a", when: "{{ context.iteration < 8 }}" }, { to: "$end" }],
    },
  ],
});

async function type({ splashdown }: Typist, ...words: readonly string[]): Promise<unknown> {
  let out = "";
  const streams = {
    out: (text: string) => void (out += text),
    error: () => undefined,
    interactive: false,
    colour: false,
  };
  const deps = {
    streams,
    open: () => Promise.resolve({ ...splashdown, close: () => Promise.resolve() }),
    signal: new AbortController().signal,
    exit: () => undefined,
  };
  await createProgram(deps, "0.0.0").parseAsync([...words, "--json"], { from: "user" });
  return JSON.parse(out);
}

describe("checkpoints", () => {
  it("list --workflow shows those of a task of that workflow alone", async () => {
    const typist = await openTypist();
    await typist.type(workflowOf("one"), { task: "t1" });
    await typist.type(workflowOf("two"), { task: "t2" });
    const rows = JSON.stringify(await type(typist, "checkpoints", "list", "--workflow", "two"));
    expect([rows.includes("t2"), rows.includes("t1")]).toEqual([true, false]);
  });

  it("prune --older-than removes the files of older checkpoints, and no younger ones", async () => {
    const typist = await openTypist();
    await typist.type(workflowOf("w"), { task: "t" });
    typist.wait(2 * HOUR_MS);
    const prune = (age: string) => type(typist, "checkpoints", "prune", "t", "--older-than", age, "--yes");
    expect(await prune("3h")).toMatchObject({ tasks: [{ action: "keep", files: [] }] });
    const gone = (await prune("1h")) as { readonly tasks: readonly { readonly files: readonly unknown[] }[] };
    expect(gone.tasks[0]?.files.length).toBeGreaterThan(0);
  });
});

describe("metrics", () => {
  it("tell how often checkpoints are made: checkpoint_frequency", async () => {
    const typist = await openTypist();
    await typist.type(workflowOf("w"), { task: "t" });
    const { length } = await typist.splashdown.checkpoints.list("t");
    const view = (await type(typist, "metrics", "t")) as { readonly checkpoint_frequency: object };
    expect(view.checkpoint_frequency).toMatchObject({ checkpoints: length, failed: 0 });
  });
});

/** What `save_as` writes into a file stays in the output: whoever reads the output sees what was said. */
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../src/index.js";
import { openSplashdownInMemory } from "../../support/library-place.js";

const SAID = { text: "hello world", more: { part: "deep" } };

async function run(workflow: object): Promise<RunView> {
  const splashdown = await openSplashdownInMemory();
  return splashdown.run({ workflow: { workflow: { name: "saved" }, ...workflow } });
}

const say = (saveAs: unknown, more: object = {}) => ({
  name: "a",
  command: ["printf", "%s", JSON.stringify(SAID)],
  effects: "none",
  save_as: saveAs,
  ...more,
});

/** A phase whose one specialist saves its text, and the score that it gets. */
async function scoreOf(scorer: object): Promise<unknown> {
  const splashdown = await openSplashdownInMemory();
  const view = await splashdown.run({
    workflow: {
      workflow: { name: "scored" },
      phases: [
        {
          name: "p",
          specialists: [say({ "final/a.md": "text" })],
          evaluate: { scorers: [{ dimension: "quality", ...scorer }], max_iterations: 1 },
        },
      ],
    },
  });
  for await (const { text } of splashdown.events(view.task)) {
    const score = /quality: ([\d.]+)$/.exec(text)?.[1];
    if (score !== undefined) return Number(score);
  }
  return undefined;
}

describe("an output that is saved", () => {
  it("[source 1] is scored by its text in an expression", async () => {
    expect(await scoreOf({ expression: "{{ a.output.text | length }}" })).toBe(11);
  });

  it("[source 1 kin] is scored by its text by a schema", async () => {
    const schema = { type: "object", properties: { text: { type: "string", minLength: 5 } }, required: ["text"] };
    expect(await scoreOf({ of: "a", schema })).toBe(100);
  });

  it("[source 1 kin] is told by its text to a scorer that is a command", async () => {
    const command = [
      "node",
      "-e",
      "let s='';process.stdin.on('data',d=>s+=d).on('end',()=>console.log(JSON.parse(s).outputs.a.text.length))",
    ];
    expect(await scoreOf({ command, effects: "none" })).toBe(11);
  });

  it("[source 1 kin] is seen as it was said by templates of later steps and of the final output", async () => {
    const view = await run({
      steps: [
        say({ "final/a.md": "text", "final/b.md": "more.part" }),
        { name: "b", value: "{{ a.output.text }}, {{ a.output.more.part }}", depends_on: ["a"] },
      ],
      output: { b: "{{ b.output }}", a: "{{ a.output }}" },
    });
    expect(view).toMatchObject({ status: "done", output: { b: "hello world, deep", a: SAID } });
    expect(view.deliverables.map(({ file }) => file)).toEqual(["final/a.md", "final/b.md"]);
  });

  it("[source 1 kin] is what routes and conditions read, saved whole as well", async () => {
    const view = await run({
      workflow: { name: "routed", entry_point: "a" },
      agents: [
        {
          ...say("final/a.json", { type: "script", command: "printf", args: ["%s", JSON.stringify(SAID)] }),
          routes: [{ to: "y", when: "{{ output.text == 'hello world' }}" }, { to: "n" }],
        },
        { name: "y", type: "set", value: "yes {{ a.output.text }}" },
        { name: "n", type: "set", value: "no" },
      ],
      output: { way: "{{ y.output }}" },
    });
    expect(view).toMatchObject({ status: "done", output: { way: "yes hello world" } });
  });
});

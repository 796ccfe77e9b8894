/** What a step sees of the one whose failure led to it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTypist } from "../../support/typed-again.js";

const END = [{ to: "$end" }];
const BROKEN = { name: "a", command: ["sh", "-c", "echo boom >&2; exit 3"], effects: "none", on_error: "h" };
const machine = (...agents: readonly object[]): object => ({
  workflow: { name: "w", entry_point: "a" },
  agents,
  output: { told: "{{ h.output }}" },
});

async function told(workflow: object, files: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { type, folder } = await openTypist();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const view = await type(workflow, { task: "t" });
  expect(view.reason).toBe("all steps are done");
  return (view.output as { readonly told: unknown }).told;
}

describe("the step that on_error leads to", () => {
  it("[source 4] sees the code, the message, the place and the stderr of the one that failed", async () => {
    const values = {
      c: "{{ a.error.code }}",
      m: "{{ a.error.message | replace(': ', ' - ') }}",
      s: "{{ a.error.step }}",
      e: "{{ a.error.stderr }}",
    };
    const handler = { name: "h", type: "set", values, routes: END };
    expect(await told(machine(BROKEN, handler))).toEqual({
      c: "STEP_FAILED",
      m: "sh exited with 3 - boom",
      s: "main/a",
      e: "boom",
    });
  });

  it("[source 4 kin] is given it on stdin, as a command", async () => {
    const input = { why: "{{ a.error.message }}" };
    const script =
      "let t='';process.stdin.on('data',c=>t+=c).on('end',()=>console.log(JSON.stringify(JSON.parse(t).input.why)))";
    const handler = { name: "h", command: [process.execPath, "-e", script], effects: "none", input, routes: END };
    expect(await told(machine(BROKEN, handler))).toBe("sh exited with 3: boom");
  });

  it("[source 4 kin] sees that of a step of a nested workflow that failed, and the errors of a group by member", async () => {
    const failing = { name: "y", command: ["sh", "-c", "exit 4"], effects: "none" };
    const handler = (value: string) => ({ name: "h", type: "set", value, routes: END });
    const nested = {
      workflow: { name: "w", entry_point: "g" },
      agents: [
        { name: "g", type: "workflow", workflow: "inner.yaml", on_error: "h" },
        handler("{{ g.error.step }} - {{ g.error.message }}"),
      ],
      output: { told: "{{ h.output }}" },
    };
    const files = { "inner.yaml": JSON.stringify({ workflow: { name: "inner" }, steps: [failing] }) };
    expect(await told(nested, files)).toBe("main/g/main/y - sh exited with 4");
    const group = {
      workflow: { name: "w", entry_point: "g" },
      parallel: [{ name: "g", agents: ["x", "y"], on_error: "h" }],
      agents: [{ name: "x", type: "set", value: "{{ 1 }}" }, failing, handler("{{ g.errors.y.message }}")],
      output: { told: "{{ h.output }}" },
    };
    expect(await told(group)).toBe("sh exited with 4");
  });

  it("[source 4 kin] sees none where it came another way, or where the step went well the next time", async () => {
    const fine = { name: "a", type: "set", value: "{{ 1 }}", routes: [{ to: "h" }] };
    const value = "{{ a.error.message | default('none') }}";
    expect(await told(machine(fine, { name: "h", type: "set", value, routes: END }))).toBe("none");
    const count = { name: "n", type: "set", value: "{{ context.iteration }}", routes: [{ to: "a" }] };
    const twice = {
      ...machine(
        {
          ...BROKEN,
          command: ["sh", "-c", "test -e done || { touch done; exit 3; }"],
          on_error: "n",
          routes: [{ to: "h" }],
        },
        count,
        { name: "h", type: "set", value, routes: END },
      ),
    };
    expect(await told(twice)).toBe("none");
  });
});

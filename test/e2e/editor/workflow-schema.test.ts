/** The schema for editors, in the language server that editors use: what a writer is told, offered and shown. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Diagnostic, openEditor } from "../../support/language-server.js";

const SCHEMA = resolve("schemas/workflow.schema.json");

const RIGHT = `workflow:
  name: t
  context: {mode: accumulate}
checkpoint_config: {interval_seconds: 30}
steps:
  - name: a
    command: [node, a.mjs]
    effects: none
    
`;

const WRONG = `workflow: {name: t}
steps:
  - name: a
    comand: [node, a.mjs]
    effects: nothing
    retry: 3
checkpoint_config: {interval_seconds: soon}
colour: red
`;

/** `line:column message`, counted from 1, in the order of the file. */
function tell(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics
    .map(({ message, range: { start } }) => ({ message, line: start.line + 1, column: start.character + 1 }))
    .sort((left, right) => left.line - right.line || left.column - right.column)
    .map(({ message, line, column }) => `${line}:${column} ${message}`);
}

function listExamples(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.ya?ml$/.test(name) && readFileSync(join(folder, name), "utf8").includes("workflow:"))
    .map((name) => join(folder, name));
}

describe("the schema in an editor", () => {
  it("has nothing to say about a right file", async () => {
    const editor = await openEditor(SCHEMA);
    expect((await editor.open(RIGHT)).diagnostics).toEqual([]);
  });

  it("marks each fault of a wrong file at its place, in settings blocks too", async () => {
    const editor = await openEditor(SCHEMA);
    const { diagnostics } = await editor.open(WRONG);
    expect(tell(diagnostics)).toEqual([
      "4:5 Property comand is not allowed.",
      '5:14 Value is not accepted. Valid values: "none", "idempotent", "external".',
      '6:12 Incorrect type. Expected "retry".',
      '7:39 Incorrect type. Expected "number".',
      "8:1 Property colour is not allowed.",
    ]);
  });

  it("offers keys that are not there yet, and the values of a choice", async () => {
    const editor = await openEditor(SCHEMA);
    const file = await editor.open(RIGHT);
    const keys = await file.complete({ line: 8, character: 4 });
    expect(keys).toEqual(expect.arrayContaining(["depends_on", "on_unknown", "retry", "routes", "timeout"]));
    expect(keys).not.toContain("command");
    expect(await file.complete({ line: 7, character: 13 })).toEqual(["none", "idempotent", "external"]);
    expect(await file.complete({ line: 2, character: 18 })).toEqual(["accumulate", "last_only", "explicit"]);
  });

  it("shows what a key means", async () => {
    const editor = await openEditor(SCHEMA);
    const file = await editor.open(RIGHT);
    expect(await file.hover({ line: 7, character: 6 })).toContain("What a second run of the step would do");
    expect(await file.hover({ line: 4, character: 2 })).toContain("Steps that start when what they depend on is done");
  });

  it("agrees with the loader about every example", async () => {
    const editor = await openEditor(SCHEMA);
    const files = listExamples("examples");
    expect(files.length).toBeGreaterThan(4);
    for (const file of files)
      expect({ file, told: tell((await editor.open(readFileSync(file, "utf8"))).diagnostics) }).toEqual({
        file,
        told: [],
      });
  });
});

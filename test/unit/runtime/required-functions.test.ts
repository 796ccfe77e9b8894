/** Functions that are not there: refused before a task is made, and before a model is asked. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { mayExport } from "../../../src/definition/reading/exported-names.js";
import { silentLog } from "../../../src/base/log.js";
import { requireFunctions } from "../../../src/runtime/session/required-functions.js";
import { codeOf } from "../../support/error-code.js";
import { openPerformerRoom } from "../../support/performer-room.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork } from "../../support/step-work.js";
import { createToldModel } from "../../support/told-model.js";
import { errorOf } from "../../support/tool-talks.js";
import { machine, model, nested, undeclared, workflow } from "../../support/workflow-builder.js";

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "splashdown-functions-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

const WEATHER = { "tools.mjs": "export const getWeather = () => 1;\nexport const town = 2;\n" };
const tool = (reference: string) =>
  ({ name: "weather", function: reference, parameters: { type: "object" }, effects: "none" }) as const;
const require = (folder: string, ...steps: Parameters<typeof machine>[1]) =>
  requireFunctions({ log: silentLog } as never, {
    definition: workflow(machine("main", [...steps])),
    folder,
    functions: new Map([["@main/given", () => 1]]),
    notes: [],
  });

describe("the functions of a workflow", () => {
  it("[first-use F6] of a tool that its file does not export is an error before any call, without a path of this machine", async () => {
    const folder = folderWith(WEATHER);
    const told = createToldModel([]);
    const room = openPerformerRoom({ modelOf: () => told.model });
    const definition = { provider: "told", tools: [tool("tools.mjs#getWether")] };
    const outcome = await room.perform(createStepWork("model", { workflowFolder: folder, definition }), {
      sink: createRecordingSink(),
    });
    await room.close();
    expect(errorOf(outcome)).toMatchObject({
      code: "FUNCTION_NOT_FOUND",
      message: 'the function of step root/work: tools.mjs exports no function "getWether"',
    });
    expect(told.requests).toEqual([]);
    expect(JSON.stringify(outcome)).not.toContain(folder);
  });

  it.each<[string, string]>([
    ["[first-use F6 kin] the step's file exports no such function", "tools.mjs#getWether"],
    ["[first-use F6 kin] the step's file exports something else of the name", "tools.mjs#town"],
    ["[first-use F6 kin] the step's file cannot be loaded", "broken.mjs#x"],
    ["[first-use F6 kin] the step's function is of another program", "@elsewhere"],
  ])("are looked up before a task is made: %s", async (_title, reference) => {
    const folder = folderWith({ ...WEATHER, "broken.mjs": "import './nowhere.mjs';\nexport const x = 1;\n" });
    const step = undeclared("work", { path: "main/work", function: reference });
    const error = await require(folder, step).catch((thrown: unknown) => thrown);
    expect(
      codeOf(() => {
        throw error;
      }),
    ).toBe("FUNCTION_NOT_FOUND");
    expect((error as Error).message).toContain("main/work");
    expect((error as Error).message).not.toContain(folder);
  });

  it("[first-use F6 kin] are looked up in tools and in nested workflows too", async () => {
    const folder = folderWith(WEATHER);
    const inner = nested("sub", machine("in", [undeclared("deep", { function: "tools.mjs#gone" })]), {
      folder,
    });
    await expect(require("/nowhere", inner)).rejects.toThrow('exports no function "gone"');
    await expect(require(folder, model("ask", { tools: [tool("tools.mjs#gone")] }))).rejects.toThrow("gone");
  });

  it("are all found where they are there", async () => {
    const folder = folderWith(WEATHER);
    const given = undeclared("given", { function: "@main/given" });
    const own = undeclared("work", { function: "tools.mjs#getWeather" });
    await expect(
      require(folder, given, own, model("ask", { tools: [tool("tools.mjs#getWeather")] })),
    ).resolves.toBeUndefined();
  });
});

describe("a file of code, unread by any machine", () => {
  it.each([
    ["export const getWether = 1;", true],
    ["export { a as getWether };", true],
    ["exports.getWether = 1", true],
    ["export * from './other.mjs'", true],
    ["module.exports = all", true],
    ["export const getWeather = 1; const getWetherNot = 2;", false],
    ["", false],
  ])("%j may export getWether: %s", (text, may) => {
    expect(mayExport(text, "getWether")).toBe(may);
  });
});

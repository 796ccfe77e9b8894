/**
 * Loads every example that Conductor ships: each loads, or is told in one line what this version does not have.
 *
 * The files are not ours to copy: SPLASHDOWN_CONDUCTOR_EXAMPLES names the folder that holds them.
 */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { loadWorkflow } from "../../../src/definition/loader.js";
import { initTemplates } from "../../../src/definition/templates/templates.js";
import type { LoadedWorkflow } from "../../../src/definition/model/loaded-workflow.js";
import { createLoaderDeps } from "../../support/workflow-files.js";

const FOLDER = process.env["SPLASHDOWN_CONDUCTOR_EXAMPLES"];
const UNSET = "set SPLASHDOWN_CONDUCTOR_EXAMPLES to the folder of Conductor's example files";

/** Path and message of every fault, by file; all other files load. */
const FAULTS: Readonly<Record<string, readonly string[]>> = {
  // Inputs are reached through workflow.input only, in Conductor too: there this prompt fails when it is rendered.
  "plugin-sources.yaml": ["agents[0].prompt: a template names changes, which is no step"],
};

/** Keys of the notes on some of them. */
const NOTED: Readonly<Record<string, readonly string[]>> = {
  "simple-qa.yaml": [],
  "set-step.yaml": [],
  "script-step.yaml": [],
  "copilot-existing-runtime.yaml": ["workflow.runtime.provider"],
  "working-dir.yaml": ["agents[1].working_dir"],
};

async function load(folder: string, name: string): Promise<LoadedWorkflow | readonly string[]> {
  const deps = { ...createLoaderDeps({}), readText: (path: string) => readFile(path, "utf8") };
  try {
    return await loadWorkflow({ file: join(folder, name) }, deps);
  } catch (error) {
    const { details } = error as { details?: { faults?: readonly { path: string; message: string }[] } };
    if (details?.faults === undefined) throw error;
    return details.faults.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe("Conductor's examples", () => {
  beforeAll(() => initTemplates());

  it("load, or are told what this version does not have", async (context) => {
    if (FOLDER === undefined) return context.skip(UNSET);
    const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".yaml"));
    expect(names.length).toBeGreaterThan(30);
    const found: Record<string, readonly string[]> = {};
    for (const name of names) {
      const loaded = await load(FOLDER, name);
      if (!("definition" in loaded)) found[name] = loaded;
    }
    expect(found).toEqual(FAULTS);
  });

  it("D7: tell of what has no effect in them", async (context) => {
    if (FOLDER === undefined) return context.skip(UNSET);
    for (const [name, keys] of Object.entries(NOTED)) {
      const loaded = await load(FOLDER, name);
      expect({ [name]: "notes" in loaded && loaded.notes.map((note) => note.split(": ")[0]) }).toEqual({
        [name]: keys,
      });
    }
  });
});

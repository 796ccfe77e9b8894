/** Workflow files in memory, for loading without a disk. */
import type { DefinitionFault } from "../../src/definition/faults/fault.js";
import { type LoaderDeps, loadWorkflow } from "../../src/definition/loader.js";
import type { LoadedWorkflow } from "../../src/definition/model/loaded-workflow.js";

export interface FileWorld {
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly modules?: Readonly<Record<string, unknown>>;
}

/** Loader ports over plain objects; a missing file rejects as Node does. */
export function createLoaderDeps({ files = {}, environment = {}, modules = {} }: FileWorld): LoaderDeps {
  return {
    readText: (path) => {
      const text = files[path];
      if (text !== undefined) return Promise.resolve(text);
      return Promise.reject(Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT" }));
    },
    environment: (name) => environment[name],
    importModule: (path) => {
      const loaded = modules[path];
      if (loaded !== undefined) return Promise.resolve(loaded);
      return Promise.reject(Object.assign(new Error(`Cannot find module '${path}'`), { code: "ERR_MODULE_NOT_FOUND" }));
    },
  };
}

/** Loads one YAML text as `/work/flow.yaml`. */
export function loadText(text: string, world: FileWorld = {}): Promise<LoadedWorkflow> {
  const deps = createLoaderDeps({ ...world, files: { ...world.files, "/work/flow.yaml": text } });
  return loadWorkflow({ file: "/work/flow.yaml" }, deps);
}

/** The faults of one YAML text; fails when there are none. */
export async function faultsOf(text: string, world: FileWorld = {}): Promise<readonly DefinitionFault[]> {
  try {
    await loadText(text, world);
  } catch (error) {
    const { code, details } = error as { code?: string; details?: { faults?: readonly DefinitionFault[] } };
    if (code === "WORKFLOW_INVALID" && details?.faults !== undefined) return details.faults;
    throw error;
  }
  throw new Error("the workflow has no faults");
}

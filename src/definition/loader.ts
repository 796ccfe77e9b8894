/**
 * Loads a workflow from a file or an object: read, substitute, check, build. Everything wrong is told at once.
 *
 * Owns: the order of the steps and which files belong to a definition (includes, scripted answers, code of functions).
 * D4: nothing is run or paid for before a definition is whole.
 */
import { basename, dirname, extname, relative, resolve } from "node:path";
import { sha256Hex } from "../base/digest.js";
import { errnoOf, errorCodeOf, isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import { validateWorkflowFile, type WorkflowFile } from "../schema/generated/workflow.js";
import { mayExport } from "./reading/exported-names.js";
import { extractFunctions, type WorkflowInput } from "./define-workflow.js";
import {
  type EnvironmentLookup,
  isFilledLate,
  substituteEnvironment,
  type SubstitutionOptions,
} from "./reading/environment.js";
import { FaultList, type FaultPath, type PlaceFinder, valueAt } from "./faults/fault.js";
import { type IncludedText, readSourceFile, type ReadText } from "./reading/includes.js";
import { loadNested, type Surroundings } from "./nested-files.js";
import { readScript } from "./settings/scripted-answers.js";
import { warnOfSecrets } from "./validate/secret-check.js";
import { dropEmptyKeys, noteDefects } from "./reading/structure.js";
import type { LoadedWorkflow, WorkflowFunctions } from "./model/loaded-workflow.js";
import { checkSchemas } from "./validate/schema-check.js";
import { buildWorkflow } from "./compile/workflow-builder.js";
import { explainWorkflow } from "./validate/workflow-notes.js";

export interface LoaderDeps {
  /** The whole text of a file. Errors: Node's own, with the errno name in `code`. */
  readonly readText: ReadText;
  readonly environment: EnvironmentLookup;
  /** Imports a module by absolute path. */
  readonly importModule: (path: string) => Promise<unknown>;
}

/** What is loaded: a file, or an object with the folder its relative paths are meant from. */
export type WorkflowSource =
  { readonly file: string } | { readonly workflow: WorkflowInput; readonly folder: string; readonly file?: string };

interface Source {
  readonly value: JsonValue;
  readonly file: string | undefined;
  readonly folder: string;
  readonly places: PlaceFinder;
  readonly functions: WorkflowFunctions;
  readonly digests: ReadonlyMap<string, string>;
  readonly faults: FaultList;
  /** Texts of a program are taken as they are. */
  readonly isProgram: boolean;
  readonly texts: readonly IncludedText[];
}

/** What stands outside of the folder that files may be read from, or may not be run: not one fault among others. */
const CONFINED = ["WORKFLOW_OUTSIDE", "WORKFLOW_MODULE"] as const;

const MODULES = new Set([".mjs", ".js", ".cjs", ".ts", ".mts", ".cts"]);
const DATA = new Set([".yaml", ".yml", ".json"]);

/**
 * Loads a workflow.
 *
 * Shape: `file` is made absolute against the folder the process was told to work in by the caller; give it absolute.
 * Errors: WORKFLOW_NOT_FOUND; WORKFLOW_INVALID with every fault in `details.faults`.
 */
export async function loadWorkflow(
  source: WorkflowSource,
  deps: LoaderDeps,
  around: Surroundings = OUTERMOST,
): Promise<LoadedWorkflow> {
  const opened = await openSource(source, deps);
  const { faults, file } = opened;
  warnOfSecrets(opened.value, faults);
  const value = opened.isProgram ? opened.value : substituteEnvironment(opened.value, substitution(opened, deps));
  if (!isJsonObject(value)) {
    if (faults.faults.length === 0)
      faults.add({
        path: [],
        message: "a workflow is a map with the key workflow",
        suggestion: "begin with workflow: {name: …}",
      });
    faults.raise("WORKFLOW_INVALID", file);
  }
  const isReadable = faults.faults.length === 0;
  const { whole, isMended } = requireShape(value as JsonObject, opened);
  const digests = await digestCode(whole, opened, deps);
  const scriptedAnswers = await readAnswers(whole, opened, deps);
  const nested = await loadNestedOf(whole, opened, { deps, around });
  await checkSchemas(whole, faults);
  const definition = buildWorkflow(whole as unknown as WorkflowFile, {
    faults,
    codeDigests: digests,
    scriptedAnswers,
    texts: nameTexts(opened, around),
    nested,
    instructions: around.instructions,
    isComplete: isReadable && !isMended,
  });
  faults.raise("WORKFLOW_INVALID", file);
  const { folder, functions } = opened;
  return {
    definition,
    ...(file === undefined ? {} : { file }),
    folder,
    functions,
    notes: [...faults.warnings, ...explainWorkflow(whole, definition), ...notesOf(nested)],
  };
}

/** The value in the form the schema wants, mended where that is needed to find more faults. Errors: WORKFLOW_INVALID. */
function requireShape(value: JsonObject, { faults, file }: Source): { whole: JsonObject; isMended: boolean } {
  const first = validateWorkflowFile(value);
  const tidy = value["agents"] === undefined ? value : dropEmptyKeys(value, first);
  const mended = noteDefects(tidy === value ? first : validateWorkflowFile(tidy), {
    root: tidy,
    schema: "workflow",
    faults,
  });
  if (mended !== undefined && !validateWorkflowFile(mended).ok) faults.raise("WORKFLOW_INVALID", file);
  return { whole: (mended ?? tidy) as JsonObject, isMended: mended !== undefined };
}

const OUTERMOST: Surroundings = { trail: [], instructions: [] };

interface Nesting {
  readonly deps: LoaderDeps;
  readonly around: Surroundings;
}

function loadNestedOf(value: JsonObject, source: Source, { deps, around }: Nesting) {
  const { folder, file, faults } = source;
  const own = valueAt(value, ["workflow", "instructions"]);
  const instructions = Array.isArray(own) ? [...around.instructions, ...own.map(String)] : around.instructions;
  return loadNested(value, {
    folder,
    faults,
    around: { trail: [...around.trail, file ?? folder], instructions },
    load: (named, inner) => loadWorkflow({ file: named }, deps, inner),
  });
}

/** The workflow's own file is called by its path from the folder of the outermost one. */
function nameTexts({ texts, file, folder }: Source, { trail }: Surroundings): readonly IncludedText[] {
  const [outermost] = trail;
  const from = outermost === undefined ? folder : dirname(outermost);
  return texts.map((text) => (text.file === file ? { ...text, file: relative(from, file) } : text));
}

function notesOf(nested: ReadonlyMap<string, LoadedWorkflow>): string[] {
  return [...nested].flatMap(([text, { notes }]) => notes.map((note) => `${text}: ${note}`));
}

function substitution(source: Source, deps: LoaderDeps): SubstitutionOptions {
  const name = valueAt(source.value, ["workflow", "name"]);
  return {
    environment: deps.environment,
    names: typeof name === "string" ? { "workflow.name": name } : {},
    faults: source.faults,
    keeps: isFilledLate,
  };
}

async function openSource(source: WorkflowSource, deps: LoaderDeps): Promise<Source> {
  if ("workflow" in source) return openObject(source.workflow, source.folder, source.file);
  const { file } = source;
  const kind = extname(file).toLowerCase();
  if (MODULES.has(kind)) return openModule(file, deps);
  if (!DATA.has(kind)) {
    throw new SplashdownError(
      "WORKFLOW_INVALID",
      `${file} is no workflow file: its name ends with ${kind === "" ? "nothing" : kind}`,
      {
        details: { file, faults: [] },
      },
    );
  }
  try {
    const { value, faults, places, isBroken, texts } = await readSourceFile(file, file, deps.readText);
    const list = new FaultList(places);
    for (const fault of faults) list.addPlaced(fault);
    if (isBroken) list.raise("WORKFLOW_INVALID", file);
    return {
      value,
      file,
      folder: dirname(file),
      places,
      functions: new Map(),
      digests: new Map(),
      faults: list,
      isProgram: false,
      texts,
    };
  } catch (error) {
    throw notFound(file, error);
  }
}

/** Source: CONDUCTOR-YAML 1.11. */
const NEVER_THERE = new Set(["design-review", "research-assistant-claude", "web-dashboard-test"]);

function notFound(file: string, error: unknown): unknown {
  const errno = errnoOf(error);
  if (errno === undefined || errorCodeOf(error) !== undefined) return error;
  const word = NEVER_THERE.has(basename(file, extname(file)))
    ? "; Conductor's list of examples names it, but has no such file"
    : "";
  return new SplashdownError("WORKFLOW_NOT_FOUND", `the workflow file ${file} cannot be read (${errno})${word}`, {
    details: { file },
    cause: error,
  });
}

function openObject(workflow: unknown, folder: string, file: string | undefined): Source {
  const { value, functions, digests } = extractFunctions(workflow);
  const faults = new FaultList({ placeOf: () => undefined });
  const places: PlaceFinder = { placeOf: () => undefined };
  return { value, file, folder, places, functions, digests, faults, isProgram: true, texts: [] };
}

async function openModule(file: string, deps: LoaderDeps): Promise<Source> {
  let exported: unknown;
  try {
    exported = await deps.importModule(file);
  } catch (error) {
    if (isErrorCode(error, ...CONFINED)) throw error;
    const isMissing =
      ["ERR_MODULE_NOT_FOUND", "ENOENT"].includes(errnoOf(error) ?? "") && messageOf(error).includes(file);
    if (isMissing)
      throw new SplashdownError("WORKFLOW_NOT_FOUND", `the workflow file ${file} does not exist`, {
        details: { file },
        cause: error,
      });
    throw new SplashdownError("WORKFLOW_INVALID", `${file}: the module cannot be loaded: ${messageOf(error)}`, {
      details: { file, faults: [] },
      cause: error,
    });
  }
  const workflow = pickWorkflow(exported);
  if (workflow === undefined) {
    throw new SplashdownError(
      "WORKFLOW_INVALID",
      `${file}: the module exports no workflow (write export default defineWorkflow({…}))`,
      {
        details: { file, faults: [] },
      },
    );
  }
  return openObject(workflow, dirname(file), file);
}

/** The default export, one named `workflow`, or the default of a CommonJS module seen through `import`. */
function pickWorkflow(exported: unknown): unknown {
  if (!isJsonObject(exported)) return undefined;
  const isWorkflow = (value: unknown): boolean => isJsonObject(value) && isJsonObject(value["workflow"]);
  const { default: main, workflow: named } = exported as Record<string, unknown>;
  const candidates = [main, isJsonObject(main) ? (main as Record<string, unknown>)["default"] : undefined, named];
  return candidates.find(isWorkflow);
}

/** Digests of the files that function steps name, by the file as written. */
async function digestCode(value: JsonObject, source: Source, deps: LoaderDeps): Promise<ReadonlyMap<string, string>> {
  const digests = new Map(source.digests);
  const texts = new Map<string, string>();
  for (const { text, path } of findFunctions(value, [])) {
    const [name = "", exported = "default"] = text.split("#");
    if (name === "" || name.startsWith("@") || (digests.has(name) && !texts.has(name))) continue;
    try {
      const code = texts.get(name) ?? (await deps.readText(resolve(source.folder, name)));
      texts.set(name, code);
      digests.set(name, sha256Hex(code));
      if (!mayExport(code, exported)) noteMissing(source, { path, name, exported });
    } catch (error) {
      if (isErrorCode(error, ...CONFINED)) throw error;
      noteUnreadable(source, { path, text }, error);
    }
  }
  return digests;
}

function noteUnreadable({ faults }: Source, { path, text }: NamedFunction, error: unknown): void {
  faults.add({
    code: "file",
    path,
    message: `the file of the function ${text} cannot be read (${errnoOf(error) ?? messageOf(error)})`,
    suggestion: "the path is relative to the workflow file",
  });
}

interface MissingExport {
  readonly path: FaultPath;
  readonly name: string;
  readonly exported: string;
}

function noteMissing({ faults }: Source, { path, name, exported }: MissingExport): void {
  const message = `${name} exports no function ${JSON.stringify(exported)}`;
  faults.add({
    code: "unknown_name",
    path,
    message,
    suggestion: "write FILE#NAME with the name of an exported function",
  });
}

/** Keys below which steps stand. */
const HOLDERS = new Set("phases specialists spawn steps agents parallel tools for_each step agent".split(" "));

/** A function as the file names it, and where. */
interface NamedFunction {
  readonly text: string;
  readonly path: FaultPath;
}

function findFunctions(value: JsonValue | undefined, path: FaultPath): NamedFunction[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, index) => findFunctions(item, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const inner = [...path, key];
    if (key === "function" && typeof item === "string") return [{ text: item, path: inner }];
    return HOLDERS.has(key) ? findFunctions(item, inner) : [];
  });
}

async function readAnswers(value: JsonObject, source: Source, deps: LoaderDeps): Promise<JsonObject | undefined> {
  const path = ["workflow", "runtime", "scripted_answers"];
  const answers = valueAt(value, path);
  if (isJsonObject(answers)) {
    readScript(answers, (fault) => source.faults.add({ ...fault, path: [...path, ...fault.path] }));
    return answers;
  }
  if (typeof answers !== "string") return undefined;
  try {
    const read = await readSourceFile(resolve(source.folder, answers), answers, deps.readText);
    for (const fault of read.faults) source.faults.addPlaced(fault);
    if (isJsonObject(read.value)) {
      const own = new FaultList(read.places);
      readScript(read.value, (fault) => own.add(fault));
      for (const fault of own.faults) source.faults.addPlaced(fault);
      return read.value;
    }
    if (read.faults.length === 0)
      source.faults.add({ code: "file", path, message: `${answers} must be a map of step to answers` });
  } catch (error) {
    if (isErrorCode(error, ...CONFINED)) throw error;
    source.faults.add({
      code: "file",
      path,
      message: `${answers} cannot be read (${errnoOf(error) ?? messageOf(error)})`,
      suggestion: "the path is relative to the workflow file",
    });
  }
  return undefined;
}

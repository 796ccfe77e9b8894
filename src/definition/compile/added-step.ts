/**
 * Builds a step that a step adds while the task runs.
 *
 * It is data, not text of a file: its texts are taken as they are, so that nothing that a program found out becomes a
 * template. It depends on nothing but the step that adds it, and holds no steps of its own.
 */
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { validateWorkflowFile, type Step, type WorkflowFile } from "../../schema/generated/workflow.js";
import { FaultList } from "../faults/fault.js";
import { fingerprintStep } from "../model/fingerprint.js";
import type { StepDefinition } from "../model/step.js";
import { noteDefects } from "../reading/structure.js";
import type { NodeSite } from "../kinds/build-context.js";
import type { FileKind } from "../kinds/kind.js";
import { FILE_KINDS, type LeafKind } from "../kinds/table.js";
import { buildStep } from "./step-builder.js";
import { findKind, isGroupKind } from "./step-kinds.js";
import { buildTools } from "../kinds/tool-builder.js";

/** What has a meaning in a file only. */
const FILE_KEYS = ["depends_on", "when", "routes", "on_error", "secrets", "tools", "input_mapping"] as const;
/** Kinds that can be added. */
const ADDABLE = Object.entries<Pick<FileKind, "onlyInFiles">>(FILE_KINDS).flatMap(([kind, { onlyInFiles }]) =>
  onlyInFiles === true ? [] : [kind],
);
const LIKE_KEYS = new Set(["name", "like", "input"]);

/** A step to add: built, or another step of its group with other input. */
export type AddedStep =
  | { readonly name: string; readonly definition: StepDefinition }
  | { readonly name: string; readonly like: string; readonly input: JsonObject };

/** Shape: what is wrong with it, one line each, where it cannot be built. */
export type CheckedStep = { readonly step: AddedStep } | { readonly faults: readonly string[] };

export function buildAddedStep(written: JsonObject): CheckedStep {
  if (typeof written["name"] !== "string" || written["name"] === "")
    return { faults: ["it has no name; give it one of its own, by which it is known in its group"] };
  return written["like"] === undefined ? buildWhole(written, written["name"]) : readLike(written, written["name"]);
}

function readLike({ like, input = {}, ...rest }: JsonObject, name: string): CheckedStep {
  const named = buildWhole({ name, value: true }, name);
  const faults = [
    ...("faults" in named ? named.faults : []),
    ...(typeof like === "string" ? [] : ["like must be the name of a step in the same group"]),
    ...(isJsonObject(input) ? [] : ["input must be a map"]),
    ...Object.keys(rest)
      .filter((key) => !LIKE_KEYS.has(key))
      .map((key) => `${key} has no meaning beside like: all but the input is as in the other step; remove ${key}`),
  ];
  if (faults.length > 0 || typeof like !== "string" || !isJsonObject(input)) return { faults };
  return { step: { name, like, input } };
}

function buildWhole(written: JsonObject, name: string): CheckedStep {
  const faults = new FaultList();
  const file = { workflow: { name: "added" }, steps: [written] };
  noteDefects(validateWorkflowFile(file), { root: file, schema: "workflow", faults });
  for (const key of FILE_KEYS)
    if (written[key] !== undefined)
      faults.add({ path: [key], message: `${key} has a meaning in a file only`, suggestion: `remove ${key}` });
  if (faults.faults.length > 0) return { faults: describe(faults) };
  const step = (file as unknown as WorkflowFile).steps?.[0] as Step;
  const kind = findAddedKind(step, faults);
  if (kind === undefined || faults.faults.length > 0) return { faults: describe(faults) };
  const built = buildStep({ ...step, name }, kind, siteOf(faults));
  if (faults.faults.length > 0) return { faults: describe(faults) };
  const definition = { ...built, path: name };
  return { step: { name, definition: { ...definition, fingerprint: fingerprintStep(definition) } } };
}

function findAddedKind(step: Step, faults: FaultList): LeafKind | undefined {
  const kind = findKind({ step, path: [], isRouted: false, faults });
  if (kind === undefined) return undefined;
  if (!ADDABLE.includes(kind))
    faults.add({
      path: [],
      message: `a ${kind} step cannot be added while the task runs`,
      suggestion: `add one of these kinds: ${ADDABLE.join(", ")}`,
    });
  if (kind === "model" && step.provider === undefined)
    faults.add({ path: [], message: "it names no provider", suggestion: "add provider and model, or like: STEP" });
  return isGroupKind(kind) ? undefined : kind;
}

function siteOf(faults: FaultList): NodeSite {
  const codeDigests = new Map<string, string>();
  return {
    at: [],
    parent: "",
    isRouted: false,
    context: {
      faults,
      provider: "",
      model: undefined,
      briefingTokensMax: 0,
      runtime: {},
      settings: {},
      instructions: [],
      codeDigests,
      tools: buildTools({ tools: [], runtime: {}, codeDigests }, faults),
      nested: new Map(),
      sources: [],
      places: new Map(),
      absent: new Set(),
    },
  };
}

function describe({ faults }: FaultList): readonly string[] {
  return faults.map(({ path, message, suggestion }) => {
    const place = path.replace(/^steps\[0\]\.?/, "");
    return `${place === "" ? "" : `${place}: `}${message}${suggestion === undefined ? "" : ` (${suggestion})`}`;
  });
}

/** Builds one step of any kind from its checked form. */
import type { JsonValue } from "../../base/json.js";
import type { Runtime, Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "../kinds/build-context.js";
import { RETRY_OF_MODELS } from "../model/defaults.js";
import { fingerprintStep } from "../model/fingerprint.js";
import { noteTwins } from "../kinds/step-checks.js";
import {
  buildOutputSchema,
  buildRetry,
  buildSaveAs,
  listCommand,
  omitUndefined,
  optionalMs,
} from "../kinds/step-fields.js";
import { buildReferences } from "./references.js";
import { FILE_KINDS, type LeafKind } from "../kinds/table.js";
import type { NodeBase, StepDefinition } from "../model/step.js";
import type { RouteDefinition, TemplateValue } from "../model/values.js";
import type { Common, FileKind, Unsigned } from "../kinds/kind.js";

/** Builds a step. Faults of its parts go to the context. */
export function buildStep(step: Step, kind: LeafKind, site: NodeSite): StepDefinition {
  const common = buildCommon(step, kind, site);
  const built: Unsigned<StepDefinition> = (FILE_KINDS[kind] as FileKind).build(step, { common, site });
  const code = built.kind === "function" ? site.context.codeDigests.get(built.function.split("#")[0] ?? "") : undefined;
  const signed: StepDefinition = { ...built, fingerprint: fingerprintStep(built, code) };
  site.context.places.set(signed, site.at);
  return signed;
}

/** Routes as the engine knows them; `when: true` is no condition. */
export function buildRoutes(routes: Step["routes"]): RouteDefinition[] {
  return (routes ?? []).map(({ to, when, output }) => ({
    to,
    ...omitUndefined("when", when === undefined || when === true ? undefined : String(when)),
    ...omitUndefined("output", output as Readonly<Record<string, string>> | undefined),
  }));
}

type Joints = Pick<NodeBase, "dependsOn" | "startsOn" | "when">;

/** What has to be before a node, and whether it is done at all; `when: true` is no condition. */
export function buildJoints({ depends_on: written, when }: Pick<Step, "depends_on" | "when">): Joints {
  const dependencies = typeof written === "string" ? [written] : (written ?? []);
  const named = dependencies.map((one) => (typeof one === "string" ? { step: one } : one));
  const ends = named.flatMap(({ step, on }) => (on === undefined ? [] : [[step, [...on]] as const]));
  return {
    dependsOn: named.map(({ step }) => step),
    ...(ends.length === 0 ? {} : { startsOn: Object.fromEntries(ends) }),
    ...omitUndefined("when", when === undefined || when === true ? undefined : String(when)),
  };
}

function buildCommon(step: Step, kind: LeafKind, site: NodeSite): Common {
  noteTwins(step, ["timeout", "timeout_seconds"], site);
  const isMap = step.input !== undefined && !Array.isArray(step.input);
  return {
    node: "step",
    name: step.name ?? "",
    path: `${site.parent}/${step.name ?? ""}`,
    ...omitUndefined("description", step.description),
    ...buildJoints(step),
    routes: buildRoutes(step.routes),
    ...omitUndefined("onError", step.on_error),
    input: isMap ? (step.input as Readonly<Record<string, TemplateValue>>) : {},
    ...omitUndefined("references", buildReferences(step, site)),
    ...buildPatience(step, kind, site.context.runtime),
    saveAs: buildSaveAs(step.save_as, [...site.at, "save_as"], site.context.faults),
    secrets: step.secrets ?? [],
    ...omitUndefined("outputSchema", step.output === undefined ? undefined : buildOutputSchema(step.output)),
  };
}

/** How often, how long and how carefully a step is done. */
function buildPatience(step: Step, kind: LeafKind, runtime: Runtime) {
  const isModel = kind === "model";
  // All turns of one attempt. Source: CONDUCTOR-YAML 1.3.
  const sessionSeconds = isModel ? (step.max_session_seconds ?? runtime.max_session_seconds) : undefined;
  return {
    effects: step.effects ?? FILE_KINDS[kind].effects,
    ...omitUndefined("onUnknown", step.on_unknown),
    ...omitUndefined("probe", step.probe === undefined ? undefined : listCommand(step.probe as JsonValue)),
    retry: isModel && step.retry === undefined ? RETRY_OF_MODELS : buildRetry(step.retry),
    ...optionalMs("timeoutMs", step.timeout ?? step.timeout_seconds ?? sessionSeconds),
    ...optionalMs("idleTimeoutMs", step.idle_timeout),
    criticality: step.criticality ?? "standard",
    risky: step.risky ?? false,
  } as const;
}

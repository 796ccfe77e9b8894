/** Builds one step of any kind from its checked form. */
import type { JsonValue } from "../../base/json.js";
import type { Runtime, Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "./build-context.js";
import { EFFECTS, READING_METHODS, RETRY_OF_MODELS } from "../model/defaults.js";
import { fingerprintStep } from "../model/fingerprint.js";
import { buildGate, buildQuestions } from "./human-steps.js";
import {
  buildOutputSchema,
  buildRetry,
  buildSaveAs,
  listCommand,
  omitUndefined,
  optionalMs,
  parseDurationMs,
  textMap,
} from "./step-fields.js";
import { buildModelOptions } from "./model-options.js";
import { buildReferences } from "./references.js";
import type { GroupKind, NodeKind } from "./step-kinds.js";
import { chooseTool, chooseTools } from "./tool-builder.js";
import type { NodeBase, StepDefinition } from "../model/step.js";
import type { Effects, RouteDefinition, TemplateValue } from "../model/values.js";
import type { Common, Parts, Unsigned } from "./step-parts.js";

export type LeafKind = Exclude<NodeKind, GroupKind>;

/** Builds a step. Faults of its parts go to the context. */
export function buildStep(step: Step, kind: LeafKind, site: NodeSite): StepDefinition {
  const common = buildCommon(step, kind, site);
  const built = BUILDERS[kind](step, { common, site });
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
    effects: step.effects ?? defaultEffects(step, kind),
    ...omitUndefined("onUnknown", step.on_unknown),
    ...omitUndefined("probe", step.probe === undefined ? undefined : listCommand(step.probe as JsonValue)),
    retry: isModel && step.retry === undefined ? RETRY_OF_MODELS : buildRetry(step.retry),
    ...optionalMs("timeoutMs", step.timeout ?? step.timeout_seconds ?? sessionSeconds),
    ...optionalMs("idleTimeoutMs", step.idle_timeout),
    criticality: step.criticality ?? "standard",
    risky: step.risky ?? false,
  } as const;
}

function defaultEffects({ method }: Step, kind: LeafKind): Effects {
  return kind === "http" && READING_METHODS.has(method ?? "GET") ? "none" : EFFECTS[kind];
}

function noteTwins(step: Step, [one, other]: readonly [keyof Step, keyof Step], site: NodeSite): void {
  if (step[one] === undefined || step[other] === undefined) return;
  const message = `${one} and ${other} mean the same`;
  site.context.faults.add({
    code: "conflict",
    path: [...site.at, other],
    message,
    suggestion: "keep one",
    atKey: true,
  });
}

const BUILDERS: { readonly [K in LeafKind]: (step: Step, parts: Parts) => Unsigned<StepDefinition> } = {
  command: (step, parts) => buildCommand(step, "command", parts),
  script: (step, parts) => buildCommand(step, "script", parts),
  function: (step, parts) => ({ ...parts.common, kind: "function", function: checkFunction(step, parts) }),
  model: buildModel,
  cli: buildCli,
  set: buildSet,
  wait: buildWait,
  human_gate: buildGate,
  questions: buildQuestions,
  terminate: buildTerminate,
  http: buildHttp,
  mcp: buildMcp,
};

/** What its effects are said to be is said of the tool: the step does nothing but call it. */
function buildMcp(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const { tools, faults } = site.context;
  return { ...common, kind: "mcp", effects: EFFECTS.mcp, ...chooseTool(tools, { step, at: site.at, faults }) };
}

function buildCommand(step: Step, kind: "command" | "script", { common, site }: Parts): Unsigned<StepDefinition> {
  const command = listCommand(step.command, step.args);
  checkCommand(step, kind, site);
  const shared = {
    ...common,
    command,
    environment: textMap(step.env ?? step.environment),
    ...omitUndefined("folder", step.working_dir ?? step.folder),
  };
  return kind === "script" ? { ...shared, kind, ...omitUndefined("stdin", step.stdin) } : { ...shared, kind };
}

function checkCommand(step: Step, kind: "command" | "script", site: NodeSite): void {
  const { command, args } = step;
  const { faults } = site.context;
  const first = Array.isArray(command) ? String(command[0]) : (command as string | undefined);
  if (first === undefined || first.trim() === "") {
    const suggestion = "write command: [program, argument, …]";
    faults.add({
      code: "missing_key",
      path: site.at,
      message: `the step ${step.name ?? ""} has no command`,
      suggestion,
    });
  }
  noteTwins(step, ["env", "environment"], site);
  noteTwins(step, ["working_dir", "folder"], site);
  if (kind === "script") return;
  const isLine =
    typeof command === "string" && args === undefined && /\S\s+\S/.test(command) && !command.includes("{{");
  if (isLine) {
    const suggestion = `write [${command.trim().split(/\s+/).join(", ")}]`;
    faults.add({
      code: "wrong_value",
      path: [...site.at, "command"],
      message: "a command is a list: no shell splits it",
      suggestion,
    });
  }
  if (step.stdin !== undefined) {
    const message = "a command step gets its input as JSON on stdin";
    faults.add({
      code: "misplaced_key",
      path: [...site.at, "stdin"],
      message,
      suggestion: "use input, or type: script",
      atKey: true,
    });
  }
}

/** Which agents there are is known when it runs. */
function buildCli(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const { instructions, faults } = site.context;
  for (const key of ["cli", "prompt"] as const) {
    if (step[key] !== undefined && step[key].trim() !== "") continue;
    const suggestion = key === "cli" ? "name a profile: claude, codex, gemini, copilot or one of yours" : "add prompt";
    faults.add({ code: "missing_key", path: site.at, message: `the step ${common.name} has no ${key}`, suggestion });
  }
  return {
    ...common,
    kind: "cli",
    cli: step.cli ?? "",
    // Who is judged goes on where the work was done.
    session: step.session ?? (site.isSpecialist === true ? "continue" : "fresh"),
    ...omitUndefined("model", step.model),
    ...omitUndefined("systemPrompt", step.system_prompt),
    prompt: step.prompt ?? "",
    ...omitUndefined("briefingTokensMax", chooseBriefing(step, site)),
    ...omitUndefined("instructions", instructions.length === 0 ? undefined : instructions.join("\n\n")),
    arguments: listCommand(undefined, step.args),
    environment: textMap(step.env ?? step.environment),
    ...omitUndefined("folder", step.working_dir ?? step.folder),
  };
}

/** What a specialist's briefing keeps to; `undefined` for a prompt that goes as it is. */
function chooseBriefing(step: Step, { at, context, isSpecialist }: NodeSite): number | undefined {
  if (isSpecialist === true) return step.briefing === false ? undefined : context.briefingTokensMax;
  if (step.briefing !== undefined)
    context.faults.add({
      path: [...at, "briefing"],
      message: "only specialists of a phase are briefed",
      suggestion: "remove it: the prompt goes as it is",
      atKey: true,
    });
  return undefined;
}

function checkFunction(step: Step, { common, site }: Parts): string {
  const text = step.function ?? "";
  const isFile = /^[^#\s][^#]*#[A-Za-z_$][\w$]*$/.test(text);
  if (!isFile && !text.startsWith("@")) {
    site.context.faults.add({
      code: "wrong_value",
      path: [...site.at, "function"],
      message: `the step ${common.name} needs a function as file#name, it has ${JSON.stringify(text)}`,
      suggestion: "write ./work.mjs#name",
    });
  }
  return text;
}

function buildModel(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const { instructions, runtime } = site.context;
  const options = buildModelOptions(step, runtime);
  if (!site.isRouted && step.prompt === undefined) {
    site.context.faults.add({
      code: "missing_key",
      path: site.at,
      message: `the step ${common.name} has no prompt`,
      suggestion: "add prompt",
    });
  }
  return {
    ...common,
    kind: "model",
    provider: step.provider ?? site.context.provider,
    ...omitUndefined("model", step.model ?? site.context.model),
    ...omitUndefined("systemPrompt", step.system_prompt),
    prompt: step.prompt ?? "",
    ...omitUndefined("briefingTokensMax", chooseBriefing(step, site)),
    ...omitUndefined("tools", chooseTools(site.context.tools, { step, at: site.at, faults: site.context.faults })),
    ...omitUndefined("instructions", instructions.length === 0 ? undefined : instructions.join("\n\n")),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

function buildSet(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const hasValue = Object.hasOwn(step, "value");
  if (hasValue === (step.values !== undefined)) {
    site.context.faults.add({
      code: "conflict",
      path: site.at,
      message: `the step ${common.name} needs exactly one of value and values`,
    });
  }
  if (!hasValue && step.output_type !== undefined) {
    site.context.faults.add({
      code: "conflict",
      path: [...site.at, "output_type"],
      message: "output_type goes with value only",
      suggestion: "remove it",
      atKey: true,
    });
  }
  return {
    ...common,
    kind: "set",
    ...(hasValue ? { value: step.value as TemplateValue } : {}),
    ...omitUndefined("values", step.values as Readonly<Record<string, TemplateValue>> | undefined),
    outputType: step.output_type ?? "auto",
  };
}

function buildWait(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const { duration } = step;
  const isTemplate = typeof duration === "string" && duration.includes("{{");
  const milliseconds = duration === undefined || isTemplate ? undefined : parseDurationMs(duration);
  const isWrong =
    duration === undefined ||
    (!isTemplate && (milliseconds === undefined || milliseconds <= 0 || milliseconds > 86_400_000));
  if (isWrong) {
    site.context.faults.add({
      code: duration === undefined ? "missing_key" : "wrong_value",
      path: duration === undefined ? site.at : [...site.at, "duration"],
      message: `the step ${common.name} needs a duration of more than nothing and at most 24h`,
      suggestion: "write seconds, or a text such as 500ms, 30s, 5m, 2h",
    });
  }
  return { ...common, kind: "wait", duration: duration ?? 1, ...omitUndefined("reason", step.reason) };
}

function buildTerminate(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const { faults } = site.context;
  for (const key of ["status", "reason"] as const) {
    if (step[key] !== undefined && step[key].trim() !== "") continue;
    const suggestion = key === "status" ? "write status: success or status: failed" : "say why the workflow ends here";
    faults.add({ code: "missing_key", path: site.at, message: `the step ${common.name} has no ${key}`, suggestion });
  }
  if (common.routes.length > 0) {
    const message = "a terminate step ends the workflow and goes nowhere";
    faults.add({
      code: "misplaced_key",
      path: [...site.at, "routes"],
      message,
      suggestion: "remove the routes",
      atKey: true,
    });
  }
  return {
    ...common,
    kind: "terminate",
    status: step.status ?? "success",
    reason: step.reason ?? "",
    ...omitUndefined("outputTemplate", step.output_template as TemplateValue | undefined),
  };
}

function buildHttp(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const { url = "" } = step;
  const isTemplate = url.includes("{{");
  if (!isTemplate && !/^https?:\/\/[^/]/.test(url)) {
    const suggestion = "write url: https://host/path";
    site.context.faults.add({
      code: "wrong_value",
      path: [...site.at, "url"],
      message: `the step ${common.name} needs an address`,
      suggestion,
    });
  }
  return {
    ...common,
    kind: "http",
    method: step.method ?? "GET",
    url,
    query: textMap(step.query),
    headers: textMap(step.headers),
    ...omitUndefined("body", step.body as TemplateValue | undefined),
    failOnStatus: step.fail_on_status ?? true,
  };
}

/**
 * Looks at what a program calls the verbs with, before anything is done: a mistake is told as what is wrong with the call, not
 * as what came of it further in.
 *
 * Errors: USAGE_INVALID, naming the verb, the argument and what belongs there. Nothing is said of what a verb looks at itself.
 */
import { SplashdownError } from "../base/errors.js";
import { findNearest } from "../definition/faults/nearest.js";

type Kind = "text" | "texts" | "object" | "flag" | "workflow";

interface Call {
  /** Texts before the options, by what they are. */
  readonly texts?: readonly string[];
  /** Options that must be there; of several in one entry one is enough. Absent: the verb needs no options. */
  readonly needs?: readonly (readonly string[])[];
  readonly example: string;
}

const OPTIONS: Readonly<Record<string, Kind>> = {
  workflow: "workflow",
  task: "text",
  checkpointId: "text",
  from: "text",
  answer: "text",
  question: "text",
  text: "text",
  by: "text",
  inputs: "object",
  breakAt: "texts",
  wait: "flag",
  planOnly: "flag",
  acceptChanges: "flag",
  fresh: "flag",
};

const CALLS: Readonly<Record<string, Call>> = {
  run: { needs: [["workflow"]], example: 'run({ workflow: "flow.yaml" })' },
  dryRun: { needs: [["workflow"]], example: 'dryRun({ workflow: "flow.yaml" })' },
  resume: { needs: [["task", "checkpointId"]], example: 'resume({ task: "report" })' },
  resumeFromCheckpoint: { texts: ["a checkpoint id"], example: 'resumeFromCheckpoint("checkpoint_…")' },
  fork: { texts: ["a task"], needs: [["from"]], example: 'fork("report", { from: "latest" })' },
  answer: { needs: [["task"], ["answer"]], example: 'answer({ task: "report", answer: "approve" })' },
  guide: { needs: [["task"], ["text"]], example: 'guide({ task: "report", text: "be brief" })' },
  request: { texts: ["a task", "pause, stop or checkpoint"], example: 'request("report", "pause")' },
  show: { texts: ["a task"], example: 'show("report")' },
  showStep: { texts: ["a task", "a step"], example: 'showStep("report", "draft")' },
  timeline: { texts: ["a task"], example: 'timeline("report")' },
  confidence: { texts: ["a task"], example: 'confidence("report")' },
};

/** The same verbs, each looking at its arguments first. */
export function checkCalls<Verbs extends object>(verbs: Verbs): Verbs {
  const checked = Object.entries(verbs).map(([name, verb]: [string, unknown]) => {
    const call = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
    if (call === undefined || typeof verb !== "function") return [name, verb] as const;
    const run = verb as (...given: readonly unknown[]) => unknown;
    return [name, async (...given: readonly unknown[]) => (checkCall(name, call, given), run(...given))] as const;
  });
  return Object.fromEntries(checked) as Verbs;
}

function checkCall(verb: string, { texts = [], needs, example }: Call, given: readonly unknown[]): void {
  const refuse = (what: string): never => {
    throw new SplashdownError("USAGE_INVALID", `${verb} ${what}, as in ${example}`);
  };
  texts.forEach((what, at) => {
    if (!isOf("text", given[at]))
      refuse(`takes ${what} as its ${ORDER[at] ?? ""} argument, not ${describe(given[at])}`);
  });
  if (needs === undefined) return;
  const options = given[texts.length];
  if (typeof options !== "object" || options === null || Array.isArray(options))
    return refuse(`takes an object of options, not ${describe(options)}`);
  const values = options as Readonly<Record<string, unknown>>;
  for (const names of needs) {
    if (names.some((name) => values[name] !== undefined)) continue;
    refuse(`needs ${names.join(" or ")}${describeOther(values, names)}`);
  }
  for (const [name, kind] of Object.entries(OPTIONS))
    if (Object.hasOwn(values, name) && values[name] !== undefined && !isOf(kind, values[name]))
      refuse(`takes ${KINDS[kind]} as ${name}, not ${describe(values[name])}`);
}

const ORDER = ["first", "second"];

const KINDS: Readonly<Record<Kind, string>> = {
  text: "a text",
  texts: "a list of texts",
  object: "an object",
  flag: "true or false",
  workflow: "a file or a workflow",
};

/** What was perhaps meant to be one of the names. */
function describeOther(values: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  const given = Object.keys(values).filter((name) => !Object.hasOwn(OPTIONS, name) && values[name] !== undefined);
  const other = given.find((name) => findNearest(name, names) !== undefined) ?? given[0];
  return other === undefined ? "" : ` (${other} was given)`;
}

function isOf(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "texts":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "flag":
      return typeof value === "boolean";
    case "workflow":
      return typeof value === "string" || (typeof value === "object" && value !== null);
    default:
      return typeof value === "object" && value !== null && !Array.isArray(value);
  }
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return "a text";
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Every kind of step, once. */
import type { StepDefinition, StepKind } from "../model/step.js";
import { CLI } from "./cli.js";
import { COMMAND, SCRIPT } from "./command.js";
import { FUNCTION } from "./function.js";
import { HTTP } from "./http.js";
import { HUMAN_GATE } from "./human-gate.js";
import type { FileKind, Kind } from "./kind.js";
import { MCP } from "./mcp.js";
import { MODEL } from "./model.js";
import { QUESTIONS } from "./questions.js";
import { SCORER } from "./scorer.js";
import { SET } from "./set.js";
import { SLEEP_UNTIL } from "./sleep-until.js";
import { TERMINATE } from "./terminate.js";
import { WAIT } from "./wait.js";

/** Kinds that a file can name. */
export type LeafKind = Exclude<StepKind, "scorer">;
type NodeOf<K extends StepKind> = Extract<StepDefinition, { readonly kind: K }>;

/** In the order in which their signs are looked for: a prompt alone is a model's. */
export const FILE_KINDS: { readonly [K in LeafKind]: FileKind<NodeOf<K>> } = {
  human_gate: HUMAN_GATE,
  questions: QUESTIONS,
  http: HTTP,
  mcp: MCP,
  terminate: TERMINATE,
  function: FUNCTION,
  command: COMMAND,
  script: SCRIPT,
  cli: CLI,
  set: SET,
  wait: WAIT,
  sleep_until: SLEEP_UNTIL,
  model: MODEL,
};

const KINDS: { readonly [K in StepKind]: Kind<NodeOf<K>> } = { ...FILE_KINDS, scorer: SCORER };

/** What is known of a kind, for a node of it or for its name alone. */
export function kindOf(kind: StepKind): Kind {
  return KINDS[kind] as unknown as Kind;
}

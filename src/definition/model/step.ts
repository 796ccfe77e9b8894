/** Every kind of step in its normalised form: the leaves of the tree that workflow.ts describes. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { ToolDefinition, ToolServer } from "./tool-definition.js";
import type {
  Condition,
  StartingEnds,
  Template,
  TemplateValue,
  Effects,
  OnUnknown,
  Criticality,
  RetryPolicy,
  RouteDefinition,
  StepReference,
} from "./values.js";

/** What steps and scopes have in common. */
export interface NodeBase {
  readonly name: string;
  readonly path: string;
  readonly description?: string;
  readonly dependsOn: readonly string[];
  /** Absent where it runs after nothing but `done`. */
  readonly startsOn?: StartingEnds;
  /** Judged before the first attempt of each visit; false: the node is skipped. */
  readonly when?: Condition;
  /** Routes of a child of a machine; empty means `$end` there and nothing elsewhere. */
  readonly routes: readonly RouteDefinition[];
  /** Where a failed child of a machine goes after its retries. */
  readonly onError?: string;
}

interface StepBase extends NodeBase {
  readonly node: "step";
  readonly input: Readonly<Record<string, TemplateValue>>;
  /** What it sees in explicit mode; absent when it has no list of references. */
  readonly references?: readonly StepReference[];
  readonly effects: Effects;
  readonly onUnknown?: OnUnknown;
  /** A command that says what happened to a step of unknown outcome: exit 0 with JSON output = done, 3 = not done. */
  readonly probe?: readonly Template[];
  readonly retry: RetryPolicy;
  readonly timeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly criticality: Criticality;
  /** A checkpoint is taken before it. */
  readonly risky: boolean;
  /** File → field of the output (`""`: the whole output). `final/…` or a name under `phases/phase<N>/`. */
  readonly saveAs: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** JSON Schema of the output, when declared. */
  readonly outputSchema?: JsonObject;
  /** Hex digest of everything that decides what the step does. */
  readonly fingerprint: string;
}

export interface CommandStep extends StepBase {
  readonly kind: "command";
  readonly command: readonly Template[];
  readonly environment: Readonly<Record<string, Template>>;
  readonly folder?: Template;
}
export interface ScriptStep extends StepBase {
  readonly kind: "script";
  readonly command: readonly Template[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder?: Template;
  readonly stdin?: Template;
}
export interface FunctionStep extends StepBase {
  readonly kind: "function";
  /** `file.mjs#name` resolved against the workflow's folder, or `@path` of a function given to `defineWorkflow`. */
  readonly function: string;
}

/** What a plan is held against. */
export interface PlannerRule {
  readonly phasesMax: number;
  /** Over all phases. */
  readonly specialistsMax: number;
  /** The head of the file, as it is there: what planned specialists share with those of a file. */
  readonly header: JsonObject;
  /** What planned specialists are carried out by. */
  readonly provider: string;
  readonly model?: string;
  /** A model that chooses what follows from a planned phase; absent: rules do. */
  readonly atlas?: JsonObject;
}

/** What a model and an installed agent are told. */
interface PromptedStep extends StepBase {
  readonly model?: Template;
  readonly systemPrompt?: Template;
  readonly prompt: Template;
  /** A specialist of a phase: task, phase, earlier results and feedback stand before the prompt, within so many tokens. */
  readonly briefingTokensMax?: number;
  /** Put before the prompt as they are: no template. */
  readonly instructions?: string;
}
export interface ModelStep extends PromptedStep {
  readonly kind: "model";
  readonly provider: string;
  /** Its answer is a plan, checked like a file. */
  readonly planner?: PlannerRule;
  readonly tools?: readonly ToolDefinition[];
  /** What the provider may understand, keys as in a file; see model-options.ts. */
  readonly options?: JsonObject;
}
/** An installed agent that is called by its command line. */
export interface CliStep extends PromptedStep {
  readonly kind: "cli";
  /** Name of its profile in the settings. */
  readonly cli: string;
  /** What a next visit of the step does with the session of the visit before. */
  readonly session: "continue" | "fresh";
  /** Further arguments of its command. */
  readonly arguments: readonly Template[];
  readonly environment: Readonly<Record<string, Template>>;
  readonly folder?: Template;
}
export interface SetStep extends StepBase {
  readonly kind: "set";
  readonly value?: TemplateValue;
  readonly values?: Readonly<Record<string, TemplateValue>>;
  readonly outputType: "auto" | "string" | "number" | "integer" | "boolean" | "list" | "dict";
}
export interface WaitStep extends StepBase {
  readonly kind: "wait";
  /** Seconds, or a number with ms, s, m, h; may be a template. */
  readonly duration: Template | number;
  readonly reason?: Template;
}
export interface SleepUntilStep extends StepBase {
  readonly kind: "sleep_until";
  /** ISO 8601 with a zone, or a duration; may be a template. */
  readonly until: Template | number;
  readonly reason?: Template;
}
/** One choice at a gate. */
export interface GateOption {
  readonly value: string;
  readonly label: Template;
  /**
   * Where control goes in a machine; without it the gate's own routes say. Elsewhere `$end`, which ends the workflow, or
   * `$skip`, which skips what depends on the gate.
   */
  readonly route?: string;
  /** Name of a text that goes with the choice. */
  readonly promptFor?: string;
  readonly multiline: boolean;
}
/** A person chooses; an answer ends it. `timeoutMs` is how long it is asked, `onTimeout` what it answers itself then. */
export interface GateStep extends StepBase {
  readonly kind: "human_gate";
  readonly prompt: Template;
  readonly options: readonly GateOption[];
  /** The option that `--skip-gates` takes. */
  readonly default?: string;
  readonly onTimeout?: string;
}
/** One question of a wizard. Without choices any text is an answer. */
export interface WizardItem {
  readonly id: string;
  readonly text: Template;
  readonly hint?: Template;
  readonly choices: readonly Template[];
  readonly allowFreeText: boolean;
  readonly default?: JsonValue;
  readonly required: boolean;
  readonly multiline: boolean;
}
/** A person answers one question after the other; each answer is durable by itself. */
export interface QuestionsStep extends StepBase {
  readonly kind: "questions";
  /** Said once, before the first question. */
  readonly prompt?: Template;
  /** Empty where `source` gives them. */
  readonly items: readonly WizardItem[];
  /** A list in an earlier output, of texts or of items as in the file. */
  readonly source?: string;
  readonly allow: WizardMoves;
  readonly abortRoute?: string;
  readonly onTimeout?: "skip_all" | "abort";
}
export interface WizardMoves {
  readonly back: boolean;
  readonly skip: boolean;
  readonly skipAll: boolean;
  readonly abort: boolean;
}
/** Ends its workflow, well or failed. */
export interface TerminateStep extends StepBase {
  readonly kind: "terminate";
  readonly status: "success" | "failed";
  readonly reason: Template;
  /** Takes the place of the workflow's output. */
  readonly outputTemplate?: TemplateValue;
}
/** One request; its output is `{status, headers, body}`. */
export interface HttpStep extends StepBase {
  readonly kind: "http";
  readonly method: string;
  readonly url: Template;
  readonly query: Readonly<Record<string, Template>>;
  readonly headers: Readonly<Record<string, Template>>;
  /** A text goes as it is, anything else as JSON. */
  readonly body?: TemplateValue;
  /** An answer of 400 or more is a failure. */
  readonly failOnStatus: boolean;
}
/** One call of a server's tool, with the step's input. */
export interface McpStep extends StepBase {
  readonly kind: "mcp";
  /** Allows the tool alone. */
  readonly server: ToolServer;
  readonly tool: string;
}
/** Where a score comes from. */
export type ScorerWay =
  | {
      readonly by: "command";
      readonly command: readonly Template[];
      readonly environment: Readonly<Record<string, Template>>;
    }
  | { readonly by: "schema"; readonly schema: JsonObject; readonly of?: string }
  | { readonly by: "expression"; readonly expression: Template }
  | {
      readonly by: "model";
      readonly provider: string;
      readonly model?: string;
      /** The file's own settings of the provider. */
      readonly endpoint?: JsonObject;
      readonly rubric: Template;
    };

/** One of Apollo's scorers; the loader makes them from `evaluate.scorers`, as steps under `<phase>/$evaluate/<dimension>`. */
export interface ScorerStep extends StepBase {
  readonly kind: "scorer";
  readonly dimension: string;
  /** One of several who score the dimension by the same rubric. */
  readonly judge?: string;
  readonly scorer: ScorerWay;
}

export type StepDefinition =
  | CommandStep
  | ScriptStep
  | FunctionStep
  | ModelStep
  | CliStep
  | SetStep
  | WaitStep
  | SleepUntilStep
  | GateStep
  | QuestionsStep
  | TerminateStep
  | HttpStep
  | McpStep
  | ScorerStep;
export type StepKind = StepDefinition["kind"];

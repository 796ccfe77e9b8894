/**
 * What a kind of step is: everything that the compiler and the engine ask about it, in one value per kind.
 *
 * A kind is added as one file here and one row in table.ts, with its keys in schemas/workflow.schema.json and its type in
 * model/step.ts; one that is performed has a performer in agents/. Nothing else lists kinds.
 */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { Step } from "../../schema/generated/workflow.js";
import type { SetStep, StepDefinition, WaitStep, WizardItem } from "../model/step.js";
import type { Effects } from "../model/values.js";
import type { NodeSite } from "./build-context.js";

export type StepKey = keyof Step;

/** What a step has of every kind, but for its fingerprint. */
export type Common = Omit<WaitStep, "kind" | "duration" | "reason" | "fingerprint">;

export interface Parts {
  readonly common: Common;
  readonly site: NodeSite;
}

export type Unsigned<T> = T extends StepDefinition ? Omit<T, "fingerprint"> : never;

/** What brings a step of a kind to its end. */
export type EndedBy =
  | "performer"
  /** Its moment comes: see `computeDueAtMs`. */
  | "time"
  /** A person answers. */
  | "person"
  /** It ends as soon as it has begun. */
  | "engine";

export interface Wanted<T> {
  /** `undefined`: it is something else. */
  readonly parse: (value: JsonValue) => T | undefined;
  readonly what: string;
}

/** Units: milliseconds. `aheadMs`: the task's clock less the wall; a moment of the world is moved by it. */
export interface KindClock {
  readonly nowMs: number;
  readonly aheadMs: number;
}

/** Renders the parts of one step: values keep their type, texts are texts whatever a template gave. */
export interface Renderer {
  readonly value: (value: JsonValue | undefined) => JsonValue | undefined;
  /** What a set step reads its value from: texts, but for what reading the text would give anyway or damage. */
  readonly setValue: (value: JsonValue | undefined, outputType: SetStep["outputType"]) => JsonValue | undefined;
  readonly text: (template: string | undefined) => string | undefined;
  readonly texts: (templates: readonly string[]) => readonly string[];
  readonly environment: (templates: Readonly<Record<string, string>>) => JsonObject;
  /** Texts that are no templates, as Conductor has them, but for the secrets that they name. */
  readonly marked: (texts: Readonly<Record<string, string>>) => JsonObject;
  /** What a rendered value says; `what` names what it should have been. Errors: TEMPLATE_FAILED when it is not that. */
  readonly read: <T>(template: JsonValue, wanted: Wanted<T>) => T;
  /** The items that a step before gave for a wizard. Errors: TEMPLATE_FAILED. */
  readonly items: (source: string) => readonly WizardItem[];
}

export interface Kind<N extends StepDefinition = StepDefinition> {
  /** What a second run would do, where the file does not say. */
  readonly effects: Effects;
  readonly endedBy: EndedBy;
  /** It may have acted as soon as it is intended; of a child it is known whether it was let go. */
  readonly actsAtOnce?: true;
  /** It is somebody's work: a checkpoint is taken when it is done, and the agents of a checkpoint name it. */
  readonly isWork?: true;
  /** What a person says while the task runs is told to it. */
  readonly isToldGuidance?: true;
  /** It sees every output, whatever `context.mode` says. */
  readonly seesEverything?: true;
  /** What its performer or the engine needs. Shape: plain JSON, part of the input hash. Errors: TEMPLATE_FAILED. */
  readonly render: (node: N, render: Renderer) => JsonObject;
  /** Where time ends it: the moment, from what was rendered. Units: milliseconds of the task's clock. */
  readonly computeDueAtMs?: (work: JsonObject, clock: KindClock) => number;
}

/** A kind that a file can name. */
export interface FileKind<N extends StepDefinition = StepDefinition> extends Kind<N> {
  /** Values of `type`. */
  readonly types: readonly string[];
  /** Keys that tell it where there is no `type`. */
  readonly signs: readonly StepKey[];
  /** Keys that only some kinds may have; all other keys of a step are for every kind. */
  readonly keys: readonly StepKey[];
  /** It waits for a person or a tool server, or ends the workflow: it cannot be added while the task runs. */
  readonly onlyInFiles?: true;
  /** Its result, where that has one form and no `output` may be declared. */
  readonly resultForm?: string;
  /** Faults of its parts go to the context of the site. */
  readonly build: (step: Step, parts: Parts) => Unsigned<N>;
}

export function withoutUndefined(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Instructions are no templates: they stand before the prompt as they are. */
export function putBefore(instructions: string | undefined, prompt: string | undefined): string | undefined {
  return instructions === undefined ? prompt : `${instructions}\n\n${prompt ?? ""}`;
}

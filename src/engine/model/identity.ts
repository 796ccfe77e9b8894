/**
 * Names of steps, scopes and questions, and the idempotency key.
 *
 * A node of the definition has a path; what runs of it is an *instance*, whose path is the same but for the segments below
 * a for_each, which carry the key of their item: `root/each/draft[3]`, `root/each/draft[a%2fb]/inner/step`. Everything in
 * the state is kept by instance path. In keys `%`, `@`, `[`, `]` and `/` are percent-escaped; no name has one of them.
 * A step is identified by where it stands (instance path), in which round and visit: never by position in time, so a
 * second owner finds the same identity and the same key (E7). Text: `path@round.visit`.
 */
import { sha256Hex } from "../../base/digest.js";
import { SplashdownError } from "../../base/errors.js";
import type { QuestionId, StepId, TaskId } from "../../base/ids.js";
import type { ProcessRef } from "./events.js";
import type { QuestionKind } from "./question.js";

export interface StepIdentity {
  readonly path: string;
  readonly round: number;
  readonly visit: number;
}

const STEP_ID = /^([^@]+)@(\d{1,9})\.(\d{1,9})$/;
const ESCAPED = /[%@[\]/]/g;
const ESCAPES = /%([0-9a-f]{2})/g;
const KEYS = /\[[^[\]]*\]/g;
const ITEM = /^(.*)\[([^[\]]*)\]$/;

/** The identity as text; equal identities give equal text and no two others do. */
export function stepIdOf(identity: StepIdentity): StepId {
  return `${identity.path}@${identity.round}.${identity.visit}` as StepId;
}

/**
 * The reverse of `stepIdOf`.
 *
 * Errors: USAGE_INVALID on other text, so that a person's flag can be parsed with it.
 */
export function parseStepId(text: string): StepIdentity {
  const match = STEP_ID.exec(text);
  if (match === null) throw new SplashdownError("USAGE_INVALID", `not a step identity: ${text.slice(0, 200)}`);
  const [, path = "", round = "", visit = ""] = match;
  const identity: StepIdentity = { path, round: Number(round), visit: Number(visit) };
  if (stepIdOf(identity) !== text)
    throw new SplashdownError("USAGE_INVALID", `not a step identity: ${text.slice(0, 200)}`);
  return identity;
}

/** What a receiver may use to recognise a second attempt. Shape: 64 hex digits, equal on every attempt. */
export function idempotencyKeyOf(taskId: TaskId, stepId: StepId, inputHash: string): string {
  return sha256Hex(`splashdown/idempotency/v1\n${taskId}\n${stepId}\n${inputHash}`);
}

/** Two processes with equal keys are one. */
export function processKeyOf({ pid, startTicks, bootId, namespace }: ProcessRef): string {
  return `${pid}/${startTicks}/${bootId}/${namespace}`;
}

/** A question's readable identity: kind, what it is about, and which one it is of that kind there (from 1). */
export function questionIdOf(kind: QuestionKind, subject: string, ordinal: number): QuestionId {
  return `${kind}:${subject}:${ordinal}` as QuestionId;
}

/** The path of the node above; `undefined` for a root. */
export function parentPathOf(path: string): string | undefined {
  const at = path.lastIndexOf("/");
  return at === -1 ? undefined : path.slice(0, at);
}

/** The last name of a path. */
export function nameOfPath(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What a for_each calls one of its items: the name of its body with the key. */
export function itemNameOf(name: string, key: string): string {
  return `${name}[${key.replace(ESCAPED, escapeCharacter)}]`;
}

/** The key of the item that the last segment of a path (or a name) stands for; `undefined` when it is no item. */
export function itemKeyOf(path: string): string | undefined {
  const escaped = path.endsWith("]") ? ITEM.exec(nameOfPath(path))?.[2] : undefined;
  return escaped?.replace(ESCAPES, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The path in the definition that an instance path is an instance of. */
export function definitionPathOf(path: string): string {
  return path.includes("[") ? path.replace(KEYS, "") : path;
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

/**
 * Names of steps, scopes and questions, and the idempotency key.
 *
 * A step is identified by where it stands (path), in which round and visit, and for which item: never by position in
 * time, so a second owner finds the same identity and the same key (E7). Text: `path@round.visit` or
 * `path@round.visit[itemKey]`. In the path and the item key `%`, `@`, `[` and `]` are percent-escaped.
 */
import { sha256Hex } from "../base/digest.js";
import { SplashdownError } from "../base/errors.js";
import type { QuestionId, StepId, TaskId } from "../base/ids.js";
import type { QuestionKind } from "./events.js";

export interface StepIdentity {
  readonly path: string;
  readonly round: number;
  readonly visit: number;
  readonly itemKey?: string;
}

const ESCAPED = /[%@[\]]/g;
const STEP_ID = /^([^@[\]]+)@(\d{1,9})\.(\d{1,9})(?:\[([^@[\]]*)\])?$/;

/** The identity as text; equal identities give equal text and no two others do. */
export function stepIdOf(identity: StepIdentity): StepId {
  const item = identity.itemKey === undefined ? "" : `[${escape(identity.itemKey)}]`;
  return `${escape(identity.path)}@${identity.round}.${identity.visit}${item}` as StepId;
}

/**
 * The reverse of `stepIdOf`.
 *
 * Errors: USAGE_INVALID on other text, so that a person's flag can be parsed with it.
 */
export function parseStepId(text: string): StepIdentity {
  const match = STEP_ID.exec(text);
  if (match === null) throw new SplashdownError("USAGE_INVALID", `not a step identity: ${text.slice(0, 200)}`);
  const [, path = "", round = "", visit = "", itemKey] = match;
  const identity: StepIdentity = {
    path: unescape(path),
    round: Number(round),
    visit: Number(visit),
    ...(itemKey === undefined ? {} : { itemKey: unescape(itemKey) }),
  };
  if (stepIdOf(identity) !== text)
    throw new SplashdownError("USAGE_INVALID", `not a step identity: ${text.slice(0, 200)}`);
  return identity;
}

/** What a receiver may use to recognise a second attempt. Shape: 64 hex digits, equal on every attempt. */
export function idempotencyKeyOf(taskId: TaskId, stepId: StepId, inputHash: string): string {
  return sha256Hex(`splashdown/idempotency/v1\n${taskId}\n${stepId}\n${inputHash}`);
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

function escape(text: string): string {
  return text.replace(ESCAPED, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function unescape(text: string): string {
  return text.replace(/%(25|40|5b|5d)/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

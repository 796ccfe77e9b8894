/** What an answer is bound to: everything that was put to the person, and where in the task it was asked. */
import { sha256Hex } from "../../../base/digest.js";
import type { JsonValue } from "../../../base/json.js";
import { canonicalJson } from "../../../base/json-encoding.js";
import type { Question } from "../../model/question.js";

/**
 * The digest of a question: text, options, items, what is offered and known of it, whose step it is, and the moment at which
 * it was opened. The same question that opens anew, after its history was cut or its step was run again, is another one.
 *
 * Shape: 64 hex digits. What becomes of the question afterwards (moves, reminders, its answer) changes nothing.
 */
export function digestQuestion(question: Question): string {
  const { id, kind, text, options, step, phase, openedAtMs, expiresAtMs, onExpire } = question;
  const { items, allow, offered, about, facts } = question;
  const asked = {
    id,
    kind,
    text,
    options,
    step,
    phase,
    openedAtMs,
    expiresAtMs,
    onExpire,
    items,
    allow,
    offered,
    about,
    facts,
  };
  return sha256Hex(canonicalJson(JSON.parse(JSON.stringify(asked)) as JsonValue));
}

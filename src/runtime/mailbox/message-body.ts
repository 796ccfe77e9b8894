/**
 * What messages in `control/` say, once they are open.
 *
 * One that a newer version left may be of a kind that is not known here: it is no message for this version, and is told.
 */
import type { QuestionId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { showControls } from "../../base/plain-text.js";
import type { ControlMessage } from "../../engine/model/ports.js";

export interface Answer {
  readonly question: QuestionId;
  readonly answer: string;
  readonly value?: JsonValue;
  readonly by: string;
  readonly at: string;
  /** Digest of what was asked (engine/rules/questions/asked.ts). */
  readonly asked: string;
  /** Of a wizard: which move it is, from 1. */
  readonly move?: number;
}

export type GuidanceMessage = Extract<ControlMessage, { readonly kind: "guidance" }>;
export type MessageBody = ControlMessage | { readonly kind: "unread"; readonly why: string };

/** What a message says, or why this version cannot take it. */
export function parseMessage(body: JsonObject): MessageBody {
  return readKnown(body) ?? { kind: "unread", why: describeUnread(body) };
}

function describeUnread({ kind, by }: JsonObject): string {
  const what = typeof kind === "string" ? `a message of the kind ${JSON.stringify(kind.slice(0, 40))}` : "a message";
  const who = typeof by === "string" ? ` by ${showControls(by)}` : "";
  return `${what}${who} that this version of splashdown does not know; it changes nothing, and stays for one that does: update splashdown, and that takes it when it resumes the task`;
}

function readKnown(body: JsonObject): ControlMessage | undefined {
  const by = typeof body["by"] === "string" ? body["by"] : "unknown";
  const note = typeof body["note"] === "string" ? { note: body["note"] } : {};
  switch (body["kind"]) {
    case "answer": {
      const answer = parseAnswer(body);
      return answer === undefined ? undefined : { kind: "answer", ...answer };
    }
    case "checkpoint":
      return { kind: "checkpoint", by, ...note };
    case "pause":
    case "stop":
      return { kind: body["kind"], by, ...note };
    case "guidance":
      return parseGuidance(body, by);
    default:
      return undefined;
  }
}

function parseGuidance({ text, path, at }: JsonObject, by: string): GuidanceMessage | undefined {
  if (typeof text !== "string" || text.length > LIMITS.guidanceCharsMax || typeof at !== "string") return undefined;
  return { kind: "guidance", text, by, at, ...(typeof path === "string" ? { path } : {}) };
}

export function parseAnswer(body: JsonObject): Answer | undefined {
  const { question, answer, by, at, asked, value, move } = body;
  if (typeof question !== "string" || typeof answer !== "string" || typeof asked !== "string") return undefined;
  return {
    question: question as QuestionId,
    answer,
    asked,
    by: typeof by === "string" ? by : "unknown",
    at: typeof at === "string" ? at : "",
    ...(value === undefined ? {} : { value }),
    ...(typeof move === "number" ? { move } : {}),
  };
}

/**
 * Reads the JSON lines of agents: which session it is, what is said on the way, the final text, usage and cost.
 *
 * A line of an unknown kind says nothing: agents add kinds with every version. What an agent does not tell stays unknown.
 *
 * claude  `system/init` session_id · `assistant` message.content[].text · `result` result, is_error, errors,
 *         api_error_status, usage, total_cost_usd
 * codex   `thread.started` thread_id · `item.completed` agent_message · `turn.completed` usage · `turn.failed`, `error`
 * gemini  `init` session_id · `message` content, delta · `result` status, error, stats
 * copilot `assistant.message` data.content · `session.error` data.message, statusCode · `result` sessionId, exitCode
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { Usage } from "../../engine/model/events.js";

/** What one line says. */
export interface LineNews {
  readonly session?: string;
  /** For people, while it works. */
  readonly message?: string;
}

/** What all lines say together. */
export interface CliResult {
  /** `undefined`: it never came to an end. */
  readonly text?: string | undefined;
  /** It says that it failed. */
  readonly failure?: string | undefined;
  /** What its service answered, as an HTTP status. */
  readonly failureStatus?: number | undefined;
  readonly usage: Usage;
}

export interface LineReader {
  take(line: JsonObject): LineNews;
  result(): CliResult;
}

interface Reading {
  text?: string | undefined;
  failure?: string | undefined;
  failureStatus?: number | undefined;
  calls: number;
  tokensIn: number;
  tokensOut: number;
  costMicroUsd?: number;
}

type Take = (line: JsonObject, reading: Reading) => LineNews;

function createReader(take: Take): LineReader {
  const reading: Reading = { calls: 0, tokensIn: 0, tokensOut: 0 };
  return {
    take: (line) => take(line, reading),
    result: () => {
      const { text, failure, failureStatus, calls, tokensIn, tokensOut, costMicroUsd } = reading;
      const cost = costMicroUsd === undefined ? {} : { costMicroUsd };
      return { text, failure, failureStatus, usage: { calls: Math.max(calls, 1), tokensIn, tokensOut, ...cost } };
    },
  };
}

/** Source: Claude Code, headless mode, `--output-format stream-json`. */
export function readClaude(): LineReader {
  return createReader((line, reading) => {
    const session = sessionOf(line["session_id"]);
    if (line["type"] === "assistant")
      return { ...session, ...messageOf(textOfContent(at(line, "message", "content"))) };
    if (line["type"] !== "result") return session;
    const { result, is_error: isError, subtype } = line;
    if (isError === true)
      reading.failure = textOf(result) ?? textOfList(line["errors"]) ?? textOf(subtype) ?? "it says no reason";
    else reading.text = textOf(result);
    reading.failureStatus = statusOf(line["api_error_status"]);
    reading.calls = count(line["num_turns"]);
    const usage = objectOf(line["usage"]);
    const parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    reading.tokensIn = parts.reduce((sum, name) => sum + count(usage[name]), 0);
    reading.tokensOut = count(usage["output_tokens"]);
    const cost = line["total_cost_usd"];
    if (typeof cost === "number") reading.costMicroUsd = Math.ceil(Number((cost * 1e6).toFixed(3)));
    return session;
  });
}

/** Its usage is that of the whole session. Source: codex-rs/exec, `exec_events.rs`; observed of version 0.171.0. */
export function readCodex(): LineReader {
  return createReader((line, reading) => {
    switch (line["type"]) {
      case "thread.started":
        return sessionOf(line["thread_id"]);
      case "item.completed":
        return takeItem(objectOf(line["item"]), reading);
      case "turn.completed": {
        const usage = objectOf(line["usage"]);
        reading.calls += 1;
        reading.tokensIn += count(usage["input_tokens"]);
        reading.tokensOut += count(usage["output_tokens"]);
        // An error before it was mended by asking again.
        reading.failure = undefined;
        return {};
      }
      case "turn.failed":
        reading.failure = textOf(at(line, "error", "message")) ?? "the turn failed";
        return {};
      case "error":
        reading.failure = textOf(line["message"]) ?? "it says no reason";
        return {};
      default:
        return {};
    }
  });
}

/** The last message is the answer. */
function takeItem(item: JsonObject, reading: Reading): LineNews {
  const text = textOf(item["text"]);
  if (item["type"] === "agent_message" && text !== undefined) reading.text = text;
  return messageOf(text ?? textOf(item["command"]));
}

/** Source: gemini-cli, packages/core/src/output/types.ts. */
export function readGemini(): LineReader {
  let isAnswering = false;
  return createReader((line, reading) => {
    const { type, role, content, delta } = line;
    if (type === "init") return sessionOf(line["session_id"]);
    if (type === "message" && role === "assistant" && typeof content === "string") {
      reading.text = isAnswering && delta === true ? `${reading.text ?? ""}${content}` : content;
      isAnswering = true;
      return messageOf(content);
    }
    // What was said before a tool is no part of the answer.
    if (type === "tool_use") isAnswering = false;
    if (type !== "result") return {};
    const stats = objectOf(line["stats"]);
    reading.tokensIn = count(stats["input_tokens"]);
    reading.tokensOut = count(stats["output_tokens"]);
    if (line["status"] === "error") reading.failure = textOf(at(line, "error", "message")) ?? "it says no reason";
    return {};
  });
}

/** Source: observed of version 1.0.102; the vendor describes no lines. Usage comes with the vendor's own models alone. */
export function readCopilot(session: string): LineReader {
  return createReader((line, reading) => {
    const data = objectOf(line["data"]);
    switch (line["type"]) {
      case "assistant.message": {
        const text = textOf(data["content"])?.trim();
        if (text !== undefined && text !== "") reading.text = text;
        reading.calls += 1;
        reading.tokensOut += count(data["outputTokens"]);
        return { session, ...messageOf(text) };
      }
      case "session.error":
        reading.failure = textOf(data["message"]);
        reading.failureStatus = statusOf(data["statusCode"]);
        return { session };
      case "result":
        if (count(line["exitCode"]) !== 0) reading.failure ??= `it exited with ${count(line["exitCode"])}`;
        else reading.failure = undefined;
        return { session };
      default:
        return { session };
    }
  });
}

function sessionOf(value: JsonValue | undefined): { readonly session?: string } {
  return typeof value === "string" && value !== "" ? { session: value } : {};
}

const MESSAGE_CHARS_MAX = 120;

function messageOf(text: string | undefined): { readonly message?: string } {
  const line = text?.replace(/\s+/g, " ").trim() ?? "";
  return line === "" ? {} : { message: line.slice(0, MESSAGE_CHARS_MAX) };
}

function textOfContent(content: JsonValue | undefined): string | undefined {
  if (!Array.isArray(content)) return textOf(content);
  return (content as readonly JsonValue[])
    .flatMap((part) => (isJsonObject(part) ? (textOf(part["text"]) ?? []) : []))
    .join(" ");
}

function at(value: JsonObject, outer: string, inner: string): JsonValue | undefined {
  return objectOf(value[outer])[inner];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function textOfList(value: JsonValue | undefined): string | undefined {
  const texts = Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  return texts.length === 0 ? undefined : texts.join("; ");
}

function statusOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function count(value: JsonValue | undefined): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/**
 * The file of a scripted model: which step gets which answers.
 *
 * ```yaml
 * writer:                       # a step's name, its path, or the end of its path; "*" is for every other step
 *   - fail: {message: overloaded, status: 429, retry_after: 2}
 *   - calls: [{tool: search, input: {query: prices}}]     # then the next answer
 *   - say: First draft.
 *     confidence: 0.7
 *     usage: {input_tokens: 900, output_tokens: 400}
 *     cost_usd: 0.02
 *   - {say: {title: Second draft}, delay_ms: 50}
 * reviewer: {exhausted: fail, answers: [{say: {approved: true}}]}
 * stuck: [{hang: true}]
 * ```
 *
 * One visit of a step uses one `say`, with the `fail` and `hang` before it for its earlier attempts; an answer that was
 * refused as invalid is followed by the next one. After the last, the last one repeats, unless `exhausted: fail`.
 *
 * Owns: the form. Which answer comes is chosen in agents/scripted-model.ts.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { FaultNote, FaultPath } from "../faults/fault.js";
import { findNearest } from "../faults/nearest.js";

export interface ScriptedAnswer {
  readonly say?: JsonValue;
  /** Tools it wants to be called. */
  readonly calls: readonly { readonly name: string; readonly input: JsonValue }[];
  readonly confidence?: JsonValue;
  readonly uncertainties?: readonly JsonValue[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `undefined`: not priced. */
  readonly costMicroUsd?: number;
  readonly delayMs: number;
  readonly fail?: { readonly message: string; readonly status?: number; readonly retryAfterSeconds?: number };
  readonly hang: boolean;
}

export interface StepScript {
  readonly answers: readonly ScriptedAnswer[];
  readonly exhausted: "repeat" | "fail";
}

export type Script = ReadonlyMap<string, StepScript>;

const MICRO = 1_000_000;
const STEP_KEYS = ["answers", "exhausted"];
const ANSWER_KEYS = ["say", "calls", "confidence", "uncertainties", "usage", "cost_usd", "delay_ms", "fail", "hang"];
const USAGE_KEYS = ["input_tokens", "output_tokens"];
const CALL_KEYS = ["tool", "input"];
const FAIL_KEYS = ["message", "status", "retry_after"];

/**
 * Reads the content of the file.
 *
 * Shape: `note` is told every fault, with its path in the content; when it was told one the script must not be used.
 */
export function readScript(content: JsonObject, note: (fault: FaultNote) => void): Script {
  const reader = new ScriptReader(note);
  return new Map(Object.entries(content).map(([step, value]) => [step, reader.readStep(value ?? null, [step])]));
}

class ScriptReader {
  constructor(private readonly note: (fault: FaultNote) => void) {}

  readStep(value: JsonValue, path: FaultPath): StepScript {
    const isShort = Array.isArray(value);
    const block: JsonObject = isShort
      ? { answers: value as readonly JsonValue[] }
      : this.#readObject(value, path, STEP_KEYS);
    const { answers, exhausted = "repeat" } = block;
    const list = Array.isArray(answers) ? (answers as readonly JsonValue[]) : [];
    if (list.length === 0 && (isShort || isJsonObject(value)))
      this.note({ path, message: "a step needs a list of at least one answer" });
    if (exhausted !== "repeat" && exhausted !== "fail")
      this.note({ path: [...path, "exhausted"], message: "exhausted must be repeat or fail" });
    const place = isShort ? path : [...path, "answers"];
    return {
      exhausted: exhausted === "fail" ? "fail" : "repeat",
      answers: list.map((answer, index) => this.#readAnswer(answer, [...place, index])),
    };
  }

  #readAnswer(value: JsonValue, path: FaultPath): ScriptedAnswer {
    const answer = this.#readObject(value, path, ANSWER_KEYS);
    const { say, confidence, uncertainties, fail, hang } = answer;
    const calls = this.#readCalls(answer["calls"], [...path, "calls"]);
    const kinds = [say !== undefined || calls.length > 0, fail !== undefined, hang === true].filter(Boolean).length;
    if (isJsonObject(value) && kinds !== 1)
      this.note({ path, message: "an answer needs exactly one of say (or calls), fail and hang: true" });
    const usagePath = [...path, "usage"];
    const usage = this.#readObject(answer["usage"] ?? {}, usagePath, USAGE_KEYS);
    const costUsd = this.#readAmount(answer, "cost_usd", path);
    return {
      say,
      calls,
      confidence,
      uncertainties: this.#readList(uncertainties, [...path, "uncertainties"]),
      inputTokens: this.#readAmount(usage, "input_tokens", usagePath) ?? 0,
      outputTokens: this.#readAmount(usage, "output_tokens", usagePath) ?? 0,
      costMicroUsd: costUsd === undefined ? undefined : Math.round(costUsd * MICRO),
      delayMs: this.#readAmount(answer, "delay_ms", path) ?? 0,
      fail: fail === undefined ? undefined : this.#readFail(fail, [...path, "fail"]),
      hang: hang === true,
    };
  }

  #readCalls(value: JsonValue | undefined, path: FaultPath): ScriptedAnswer["calls"] {
    return (this.#readList(value, path) ?? []).map((item, index) => {
      const call = this.#readObject(item, [...path, index], CALL_KEYS);
      const { tool, input = {} } = call;
      if (typeof tool !== "string") this.note({ path: [...path, index], message: "a call names its tool" });
      return { name: typeof tool === "string" ? tool : "", input };
    });
  }

  #readFail(value: JsonValue, path: FaultPath): ScriptedAnswer["fail"] {
    const fail = this.#readObject(value, path, FAIL_KEYS);
    const { message = "a scripted failure" } = fail;
    if (typeof message !== "string") this.note({ path: [...path, "message"], message: "message must be a text" });
    return {
      message: typeof message === "string" ? message : "",
      status: this.#readAmount(fail, "status", path),
      retryAfterSeconds: this.#readAmount(fail, "retry_after", path),
    };
  }

  #readList(value: JsonValue | undefined, path: FaultPath): readonly JsonValue[] | undefined {
    if (value === undefined || Array.isArray(value)) return value;
    this.note({ path, message: `${String(path.at(-1))} must be a list` });
    return undefined;
  }

  #readAmount(holder: JsonObject, name: string, path: FaultPath): number | undefined {
    const value = holder[name];
    if (value === undefined || (typeof value === "number" && value >= 0)) return value;
    this.note({ path: [...path, name], message: `${name} must be a number of at least 0` });
    return undefined;
  }

  /** An object of known keys; what is none is noted, and read as an empty one. */
  #readObject(value: JsonValue, path: FaultPath, known: readonly string[]): JsonObject {
    if (!isJsonObject(value)) {
      this.note({ path, message: `must be a map with ${known.join(", ")}` });
      return {};
    }
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue;
      const nearest = findNearest(key, known);
      this.note({
        path: [...path, key],
        atKey: true,
        message: `unknown key ${key}; known are ${known.join(", ")}`,
        ...(nearest === undefined ? {} : { suggestion: `did you mean ${nearest}?` }),
      });
    }
    return value;
  }
}
